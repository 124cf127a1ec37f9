//! Writes the table of stop words into the program, and sets how the program is linked.

#![allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

const ENGLISH: &str = "en";
/// A list that also contains the stop words of English.
const MIXED: &str = "hinglish";

/// Writes a map from each stop word to the set of its languages, as bits, of which the lowest is English.
/// The lists of the crate `stop-words` have a pointer for each word, and every start of a program that
/// contains them relocates those.
fn write_stop_words(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut languages_of: BTreeMap<&str, u64> = BTreeMap::new();
    let others =
        stop_words::available_languages().iter().filter(|code| ![ENGLISH, MIXED].contains(code));
    for (number, code) in [ENGLISH].iter().chain(others).enumerate() {
        let language = 1_u64.checked_shl(u32::try_from(number)?).ok_or("more than 64 languages")?;
        for word in stop_words::lookup(code).unwrap_or_default() {
            *languages_of.entry(word).or_default() |= language;
        }
    }
    let mut map = fst::MapBuilder::new(BufWriter::new(File::create(path)?))?;
    map.extend_iter(languages_of)?;
    Ok(map.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src/build.rs");
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    write_stop_words(&Path::new(&folder).join("stop_words.fst"))?;
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|of_target| of_target == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // A program at a fixed address needs no relocations, which are a third of the time of a command
        // that prints one section. Its heap, its stack and its libraries are still at random addresses.
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
    Ok(())
}
