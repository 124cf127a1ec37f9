//! Benchmarks of the pure modules: the time to parse a document, an address, a pattern and a query.
//!
//! Run them with `cargo bench --bench parts`. Compare figures of the same machine only.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mdsel::address::{Selector, Tree, readings};
use mdsel::markdown::words::{measure, page};
use mdsel::markdown::{parse, tiling};
use mdsel::query::search::{PatternOptions, required_trigrams};
use mdsel::terms::WordQuery;

/// A document of about 300 KB with every kind of block.
fn document() -> Vec<u8> {
    let mut text = String::from("---\ntitle: A document\ntags: [a, b]\n---\nAn introduction.\n\n");
    for number in 0..400 {
        text.push_str(&format!(
            "## Section {number}\n\nText with `code_{number}`, a [link](other.md#part-{number}), *emphasis* and \
             words enough for a line or two, as a paragraph of documentation has them.\n\n\
             - one\n- two [[Note#Heading|alias]]\n  - three\n\n\
             ```rust\nfn function_{number}() {{ return; }}\n```\n\n\
             | name | value |\n| --- | --- |\n| a | {number} |\n\n> A quote of 引用文 and émphasis.\n\n\
             ### Details\n\nMore words, so that the section has something below it to be counted.\n\n"
        ));
    }
    text.into_bytes()
}

fn documents(criterion: &mut Criterion) {
    let file = document();
    let outline = parse(&file).outline;
    let mut group = criterion.benchmark_group("document");
    group.throughput(Throughput::Bytes(file.len() as u64));
    group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(&file))));
    group.bench_function("tiling", |bencher| {
        bencher.iter(|| tiling::fault(black_box(&outline), &file));
    });
    group.bench_function("words", |bencher| bencher.iter(|| measure(black_box(&file))));
    group.bench_function("page", |bencher| bencher.iter(|| page(black_box(&file), 500, 20)));
    group.finish();
    let tree = Tree::new(outline);
    let selector = Selector::parse("heading:h2[200]/block:code[0]").unwrap();
    criterion.bench_function("selector followed", |bencher| {
        bencher.iter(|| tree.follow(black_box(&selector.steps), 10));
    });
}

fn questions(criterion: &mut Criterion) {
    for address in ["heading:h2[3]/block:list[0]/item[2]?words=200", "Guide/Install/From source"] {
        criterion.bench_function(&format!("address {address}"), |bencher| {
            bencher.iter(|| readings(black_box(address)));
        });
    }
    for pattern in ["thread_local", r"(?i)error\s+E[0-9]{4}", r"\w+"] {
        let patterns = [pattern.to_owned()];
        criterion.bench_function(&format!("trigrams of {pattern}"), |bencher| {
            bencher.iter(|| required_trigrams(black_box(&patterns), PatternOptions::default()));
        });
    }
    criterion.bench_function("query in words", |bencher| {
        bencher.iter(|| WordQuery::parse(black_box("+install -windows \"from source\" pre*")));
    });
}

criterion_group!(parts, documents, questions);
criterion_main!(parts);
