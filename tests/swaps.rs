//! Folders below the root that are replaced by symbolic links while a command runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{Place, repeats};

/// Replaces the folder `in` by a link to `outside` and back, until `stop` is set. Counts in
/// `swaps`.
fn swap(place: &Place, stop: &AtomicBool, swaps: &AtomicU64) {
    let (inside, aside) = (place.join("root/in"), place.join("aside"));
    while !stop.load(Ordering::Relaxed) {
        std::fs::rename(&inside, &aside).unwrap();
        std::os::unix::fs::symlink("../outside", &inside).unwrap();
        std::thread::sleep(Duration::from_micros(300));
        std::fs::remove_file(&inside).unwrap();
        std::fs::rename(&aside, &inside).unwrap();
        swaps.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(300));
    }
}

#[test]
fn a_folder_replaced_by_a_link_ingests_nothing_from_outside() {
    let place = Place::in_memory();
    for number in 0..40 {
        place.write(&format!("root/in/{number}.md"), "# Inside\n");
        place.write(&format!("root/in/deep/{number}.md"), "# Inside\n");
        place.write(&format!("outside/{number}.md"), "# Outside\n\nhunter2\n");
        place.write(&format!("outside/deep/{number}.md"), "# Outside\n\nhunter2\n");
        place.write(&format!("outside/only-{number}.md"), "# Outside\n\nhunter2\n");
    }
    place.run_in("root", &["ingest"], "").success();
    let wanted = repeats(30);
    let longest = Duration::from_secs(repeats(6));
    let (stop, swaps) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let (began, mut ingests) = (Instant::now(), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&place, stop, swaps));
        let mut outside = Vec::new();
        while ingests < wanted && began.elapsed() < longest {
            ingests += 1;
            let answer = place.run_in("root", &["ingest", "--force"], "");
            let found = place.run_in("root", &["search", "-F", "-l", "hunter2"], "");
            if answer.status != 0 || found.status != 1 {
                outside.push((answer.stderr, found.text()));
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(outside.is_empty(), "{} of {ingests}: {:?}", outside.len(), outside.first());
    });
    let swaps = swaps.load(Ordering::Relaxed);
    eprintln!("{swaps} swaps during {ingests} ingests");
    assert!(ingests >= 5 && swaps > ingests, "{swaps} swaps during {ingests} ingests");
}

#[test]
fn a_folder_replaced_by_a_link_puts_nothing_from_outside_into_a_pack() {
    let place = Place::in_memory();
    place.write("root/a.md", "# A\n\n![x](in/x.txt)\n");
    place.write("root/in/x.txt", "inside");
    place.write("outside/x.txt", "hunter2");
    place.run_in("root", &["ingest"], "").success();
    let longest = Duration::from_secs(repeats(6));
    let (stop, swaps) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let (began, mut packs, mut outside) = (Instant::now(), 0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&place, stop, swaps));
        while packs < repeats(400) && began.elapsed() < longest {
            packs += 1;
            let pack = place.run_in("root", &["dump", "--attachments"], "").success().text();
            // The file from outside in base64.
            outside += usize::from(pack.contains("aHVudGVyMg"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(packs >= 5 && swaps.load(Ordering::Relaxed) > 5, "{packs} packs");
    assert_eq!(outside, 0, "of {packs} packs");
}
