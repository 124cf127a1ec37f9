//! Servers that are killed, replaced by a replica, or not trusted. Each test starts its own; see `server`.

use std::time::Duration;

use serde_json::Value;

use crate::edit_effects::Random;
use crate::harness::{Place, repeats};
use crate::server::{Cluster, move_partition};
use crate::servers::{dump, write_round};

/// Ingests while one of `clusters` is killed and started again. The store is that of the first.
fn ingest_and_kill(clusters: &[Cluster], seed: u64, rounds: u64) {
    let url = clusters[0].url();
    let place = Place::new();
    let mut random = Random(seed);
    let mut acknowledged = 0;
    for round in 0..rounds {
        write_round(&place, &mut random, round, 100);
        let arguments = ["ingest", "--wait", "20", "--db", &url, "--root", "."];
        let child = place.command("", &arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(1500) as u64));
        let killed = &clusters[random.below(clusters.len())];
        killed.kill();
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if output.status.success() {
            acknowledged = report["generation"].as_u64().unwrap();
        } else {
            assert_eq!(report["error"]["code"], "STORE_UNREACHABLE", "{report}");
        }
        killed.start();
        let status = place.run(&["status", "--db", &url]);
        if status.status == 0 {
            let generation = status.json()["generation"].as_u64().unwrap();
            assert!(generation >= acknowledged, "{generation} {acknowledged}");
            if generation > 0 {
                place.run(&["verify", "--db", &url]).success();
                let toc = place.run(&["toc", "-f", "text", "--limit", "0", "--db", &url]).text();
                let of_round = toc.matches(&format!("Round {round}")).count();
                assert!([0, 100].contains(&of_round), "{of_round}");
            }
        } else {
            assert_eq!(acknowledged, 0, "{}", status.stderr);
        }
        let report = place.run(&arguments).success().json();
        acknowledged = report["generation"].as_u64().unwrap();
        place.run(&["verify", "--db", &url]).success();
        let count = place.run(&["status", "--db", &url]).success().json()["documents"].clone();
        assert_eq!(count, 100);
    }
    drop(place.run(&["ingest", "--db", "kept.db", "--root", "."]).success());
    assert_eq!(dump(&place, &url), dump(&place, "kept.db"));
}

#[test]
fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let Some(cluster) = Cluster::new() else { return };
    ingest_and_kill(&[cluster], 11, repeats(6));
}

#[test]
fn a_killed_server_of_several_loses_nothing_and_mixes_nothing() {
    let (Some(first), Some(second)) = (Cluster::new(), Cluster::new()) else { return };
    move_partition(&first.url(), "mdsel", 2, &second.url());
    ingest_and_kill(&[first, second], 12, repeats(6));
}

#[test]
fn a_server_of_a_partition_that_does_not_answer_is_named() {
    let (Some(first), Some(second)) = (Cluster::new(), Cluster::new()) else { return };
    move_partition(&first.url(), "mdsel", 2, &second.url());
    let place = Place::with_fixtures();
    let url = first.url();
    place.run(&["ingest", "--db", &url, "--root", "."]).success();
    second.kill();
    let port = second.url().rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    for command in [&["search", "install"][..], &["toc"], &["ingest"], &["links", "check"]] {
        let arguments = [command, &["--db", &url]].concat();
        let answer = place.run(&arguments).ends(2);
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "STORE_UNREACHABLE", "{command:?} {error}");
        assert!(error["message"].as_str().unwrap().contains(&port), "{error}");
    }
    second.start();
    place.run(&["search", "install", "--db", &url]).success();
}

#[test]
fn an_ingest_waits_for_a_server_that_works_and_not_for_one_that_is_stopped() {
    let Some(cluster) = Cluster::new() else { return };
    let place = Place::with(&[("a.md", "# A\n\none\n")]);
    let url = format!("{}?connect_timeout=1", cluster.url());
    let arguments = ["ingest", "--db", &url, "--root", "."];
    place.run(&arguments).success();
    let ingest_until = |text: &str, end: &dyn Fn()| {
        place.write("a.md", text);
        // The statements of the ingest take as long as this lock.
        let mut client = cluster.client();
        client.batch_execute("BEGIN; LOCK TABLE mdsel.document").unwrap();
        let child = place.command("", &arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(5));
        end();
        drop(client);
        child.wait_with_output().unwrap()
    };
    let output = ingest_until("# B\n", &|| ());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = ingest_until("# C\n", &|| cluster.signal("STOP"));
    let search = place.run(&["search", "one", "--db", &url]).ends(2);
    cluster.signal("CONT");
    for answer in [output.stdout, search.stdout] {
        let report: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(report["error"]["code"], "STORE_UNREACHABLE", "{report}");
    }
    place.run(&arguments).success();
}

#[test]
fn a_promoted_replica_answers_the_same() {
    let Some(cluster) = Cluster::new() else { return };
    let place = Place::with_fixtures();
    place.run(&["ingest", "--db", &cluster.url(), "--root", "."]).success();
    let replica = cluster.replica();
    let commands = [
        &["search", "install the document", "--limit", "0"][..],
        &["search", "-e", "[A-Z]{4}", "--limit", "0"],
        &["toc"],
        &["links", "check"],
        &["read", "guide.md", "Use"],
        &["dump"],
    ];
    let answers = |cluster: &Cluster| {
        let url = cluster.url();
        commands.map(|command| place.run(&[command, &["--db", &url]].concat()).text())
    };
    let expected = answers(&cluster);
    // A replica may lack the newest changes for a moment.
    let is_equal = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        answers(&replica) == expected
    });
    assert!(is_equal);
    let url = replica.url();
    let refused = place.run(&["ingest", "--force", "--db", &url, "--root", "."]).ends(2);
    assert_eq!(refused.json()["error"]["code"], "READ_ONLY", "{}", refused.stderr);
    cluster.kill();
    replica.promote();
    assert!(answers(&replica) == expected);
    place.write("guide.md", "# Changed\n");
    let report = place.run(&["ingest", "--db", &url, "--root", "."]).success().json();
    assert_eq!(report["changed"], 1, "{report}");
    place.run(&["verify", "--reparse", "--db", &url]).success();
}

#[test]
fn a_password_that_is_missing_or_wrong_is_named() {
    let Some(cluster) = Cluster::new() else { return };
    let user = "CREATE ROLE ann SUPERUSER LOGIN PASSWORD 'r@i/g?ht'";
    cluster.client().batch_execute(user).unwrap();
    cluster.ask_for_passwords();
    let place = Place::with(&[("a.md", "# A\n\none\n")]);
    for (user, is_accepted) in [("ann", false), ("ann:wrong", false), ("ann:r@i/g?ht", true)] {
        let url = cluster.url().replacen("postgres@", &format!("{user}@"), 1);
        let answer = place.run(&["ingest", "--db", &url, "--root", "."]);
        assert_eq!(answer.status == 0, is_accepted, "{user}: {}", answer.stderr);
        if !is_accepted {
            let error = answer.json()["error"].to_string();
            assert!(error.contains("STORE_UNREACHABLE") && error.contains("PGPASSFILE"), "{error}");
        }
    }
}

#[test]
fn certificates_are_verified_as_the_address_asks() {
    let Some(cluster) = Cluster::new() else { return };
    let authority = cluster.encrypt();
    let authority = authority.to_str().unwrap();
    let place = Place::with(&[("a.md", "# A\n\none\n")]);
    let trusted = format!("&sslrootcert={authority}");
    for (host, mode, authority, is_accepted) in [
        ("localhost", "disable", "", false),
        ("localhost", "prefer", "", true),
        ("localhost", "require", "", true),
        ("127.0.0.1", "verify-ca", trusted.as_str(), true),
        ("localhost", "verify-ca", "", false),
        ("localhost", "verify-full", trusted.as_str(), true),
        ("localhost", "verify-full", "", false),
        ("127.0.0.1", "verify-full", trusted.as_str(), false),
    ] {
        let url = format!("{}?sslmode={mode}{authority}", cluster.url_at(host));
        let answer = place.run(&["ingest", "--db", &url, "--root", "."]);
        let is_success = answer.status == 0;
        assert_eq!(is_success, is_accepted, "{host} {mode} {authority}: {}", answer.stderr);
        if !is_accepted {
            assert_eq!(answer.json()["error"]["code"], "STORE_UNREACHABLE", "{}", answer.stderr);
        }
    }
    std::fs::remove_file(authority).unwrap();
}
