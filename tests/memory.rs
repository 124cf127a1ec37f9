//! Memory use of documents that were made to need much memory.

use std::fmt::Write as _;
use std::time::Instant;

use crate::harness::{Place, repeats};

/// MiB that an ingest may use.
const MOST: u64 = 400;

/// MiB that an ingest of many such documents may use: the full-text index buffers what it has not
/// written.
const MOST_TOGETHER: u64 = 400;

/// How many of the shapes below are tested unless `MDSEL_SOAK` requests all.
const FEW: usize = 3;

/// Documents of about `bytes` bytes, each with its name, the worst first.
fn shapes(bytes: usize) -> Vec<(&'static str, String)> {
    let repeated = |line: &str| line.repeat(bytes / line.len());
    let numbered = |line: &dyn Fn(&mut String, usize)| {
        let mut text = String::with_capacity(bytes + 64);
        for number in 0.. {
            if text.len() >= bytes {
                break;
            }
            line(&mut text, number);
        }
        text
    };
    vec![
        ("lazy quotes", "> ".repeat(32) + "a\n" + &repeated("b\n")),
        ("headings", repeated("# h\n")),
        ("numbered headings", numbered(&|text, n| writeln!(text, "# a-{n}\n# a").unwrap())),
        ("links", repeated("[a](b.md)\n")),
        ("lazy quotes in a list", "- ".to_owned() + &"> ".repeat(20) + "a\n" + &repeated("b\n")),
        ("setext headings", repeated("a\n-\n")),
        ("items", repeated("- a\n\n")),
        ("blank lines", repeated("\n")),
        (
            "markers",
            numbered(&|text, n| {
                write!(text, "<!--LDMD:BEGIN id=\"s{n}\"-->\n<!--LDMD:END id=\"s{n}\"-->\n")
                    .unwrap();
            }),
        ),
    ]
}

/// The peak memory of an ingest of these files, in MiB.
fn peak(files: &[(String, String)]) -> u64 {
    let place = Place::in_memory();
    for (name, text) in files {
        place.write(name, text);
    }
    let child = place.command("", &["ingest"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    // The peak memory of a process can be read until it ends.
    let sampler = std::thread::spawn(move || {
        let mut most = 0;
        while let Ok(text) = std::fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(line) = line else { break };
            let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
            most = most.max(kilobytes);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        most >> 10
    });
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sampler.join().unwrap()
}

#[test]
fn one_document_uses_no_more_memory_than_allowed() {
    if !std::path::Path::new("/proc/self/status").exists() {
        return eprintln!("skipped: /proc does not exist");
    }
    let (bytes, count) = if repeats(1) > 1 { (8_000_000, usize::MAX) } else { (2_000_000, FEW) };
    for (name, text) in shapes(bytes).into_iter().take(count) {
        let began = Instant::now();
        let taken = peak(&[("a.md".to_owned(), text)]);
        eprintln!("{name}: {taken} MiB, {:.1} s", began.elapsed().as_secs_f64());
        assert!(taken < MOST, "{name}: {taken} MiB");
    }
}

#[test]
fn heavy_documents_are_not_parsed_at_the_same_time() {
    if !std::path::Path::new("/proc/self/status").exists() {
        return eprintln!("skipped: /proc does not exist");
    }
    let lazy = "> ".repeat(32) + "a\n" + &"b\n".repeat(400_000);
    let headings = "# h\n".repeat(200_000);
    let files: Vec<(String, String)> = (0..repeats(2))
        .flat_map(|number| {
            [(format!("q{number}.md"), lazy.clone()), (format!("h{number}.md"), headings.clone())]
        })
        .collect();
    let taken = peak(&files);
    assert!(taken < MOST_TOGETHER, "{taken} MiB");
}
