//! Writes the table of stop words into the program, and sets how the program is linked.

#![allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The libraries that rustc names for a program on Linux with glibc, and the static library of each.
const C_LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "gcc_eh"),
    ("util", "util"),
    ("rt", "rt"),
    ("pthread", "pthread"),
    ("m", "m"),
    ("dl", "dl"),
    ("c", "c"),
];

/// Copies the static libraries of C into a folder under the names that rustc gives the shared ones,
/// and returns the arguments that link a program with them.
///
/// rustc asks for shared libraries, and only the flag `crt-static` changes that. It cannot be set here, and
/// set for the whole build it refuses procedural macros. But a linker takes a library from the first folder
/// that has it.
///
/// # Errors
/// If the C compiler does not run, if a library has no static form here, or if a program of C does not link
/// or run.
fn static_arguments(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let libraries = folder.join("static");
    fs::create_dir_all(&libraries)?;
    for (asked, name) in C_LIBRARIES {
        let output = Command::new("cc").arg(format!("-print-file-name=lib{name}.a")).output()?;
        let path = PathBuf::from(String::from_utf8(output.stdout)?.trim_end());
        // The compiler prints the name alone if it does not know the library.
        if !path.is_absolute() {
            return Err(format!("lib{name}.a is not installed").into());
        }
        fs::copy(path, libraries.join(format!("lib{asked}.a")))?;
    }
    // glibc and the unwinder call each other, and a linker may read each library once.
    let arguments: Vec<String> = [
        "-static",
        "-L",
        libraries.to_str().ok_or("a path that is not UTF-8")?,
        "-lgcc_eh",
        "-lgcc",
        "-lc",
    ]
    .map(str::to_owned)
    .into();

    let source = folder.join("trial.c");
    fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")?;
    let trial = folder.join("trial");
    let linked = Command::new("cc")
        .args([Path::new("-o"), &trial, &source])
        .args(C_LIBRARIES.map(|(asked, _)| format!("-l{asked}")))
        .args(["-nodefaultlibs", "-no-pie"])
        .args(&arguments)
        .output()?;
    if !linked.status.success() || !Command::new(&trial).output()?.status.success() {
        return Err("a static program does not link or run".into());
    }
    Ok(arguments)
}

/// Links the program with a file of settings that take effect before main. It also works without them, so a failure to
/// compile them is ignored.
fn link_if_compiled(source: &str) {
    let settings = cc::Build::new().file(source).try_compile_intermediates();
    for object in settings.unwrap_or_default() {
        println!("cargo:rustc-link-arg-bins={}", object.display());
    }
}

/// Links the program at a fixed address, and statically if that is possible here. Without relocations and
/// shared libraries a command that prints one section takes half of the time. The heap and the stack of the
/// program are still at random addresses.
fn set_link_arguments(folder: &Path) {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|of_target| of_target == value);
    link_if_compiled("src/signal.c");
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    link_if_compiled("src/malloc.c");
    // The command `cc` links programs for this machine, with the libraries of this machine.
    let is_for_here = env::var_os("HOST") == env::var_os("TARGET");
    let has_own_linker = env::var_os("RUSTC_LINKER").is_some();
    // The names of servers are resolved by shared libraries of the system.
    let uses_network = env::var_os("CARGO_FEATURE_POSTGRES").is_some();
    if !is_for_here || has_own_linker || uses_network {
        return;
    }
    for argument in static_arguments(folder).unwrap_or_default() {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for source in ["src/build.rs", "src/malloc.c", "src/signal.c"] {
        println!("cargo:rerun-if-changed={source}");
    }
    let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let folder = Path::new(&folder);
    write_stop_words(&folder.join("stop_words.fst"))?;
    set_link_arguments(folder);
    Ok(())
}
