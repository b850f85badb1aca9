//! Tests of one journal: its bytes, its lock, its optional operations.

use super::{HEADER, Journal, JournalTest, NewLine, NewLines, Outcome, all_bytes, append, ensure, lock};
use crate::{EntryId, Error, line_head};

pub(super) const TESTS: &[JournalTest] = &[
    ("a new journal is empty", empty),
    ("appended lines are read at every position", positions),
    ("lines of any bytes are kept", any_bytes),
    ("an append may have several lines", batches),
    ("lines that are not published yet are read by their writer", unpublished),
    ("the lock can be released and taken again", locking),
    ("sync can be called at any time", syncing),
    ("replace changes everything or nothing", replacing),
    ("changes are the bytes after a position, or none", changing),
    ("the index has the head of every line, or is not there", indexing),
    ("lines are found by their ids, or not at all", finding),
];

fn empty(mut journal: Box<dyn Journal>) -> Outcome {
    ensure!(journal.len()? == 0, "its length is {}", journal.len()?);
    ensure!(journal.read_at(0, &mut [0; 8])? == 0, "it has bytes");
    let locked = lock(&mut *journal)?;
    journal.unlock();
    ensure!(locked.len == 0 && locked.loss.is_none(), "the lock returned {locked:?}");
    ensure!(!journal.name().is_empty(), "it has no name");
    Ok(())
}

fn positions(mut journal: Box<dyn Journal>) -> Outcome {
    let lines: [&[u8]; 3] = [HEADER, b"{\"id\":\"a\"}\n", b"{}\n"];
    for line in lines {
        append(&mut *journal, line, None)?;
    }
    let all = lines.concat();
    ensure!(journal.len()? == all.len() as u64, "its length is {} instead of {}", journal.len()?, all.len());
    for position in 0..all.len() {
        for room in [1, 7, all.len() + 1] {
            let mut buffer = vec![0; room];
            let count = journal.read_at(position as u64, &mut buffer)?;
            ensure!(count > 0, "nothing is read at {position}");
            let is_right = all[position..].starts_with(&buffer[..count]);
            ensure!(is_right, "other bytes are read at {position}");
        }
    }
    for position in [all.len() as u64, all.len() as u64 + 1, 1 << 40] {
        ensure!(journal.read_at(position, &mut [0; 8])? == 0, "bytes are read at {position}, behind the end");
    }
    Ok(())
}

fn any_bytes(mut journal: Box<dyn Journal>) -> Outcome {
    let mut long = vec![b'x'; 3 << 20];
    long.push(b'\n');
    let lines: [&[u8]; 7] = [
        HEADER,
        b"\n",
        b"\0\0\n",
        b"\xff\xfe\xed\xa0\x80\n",
        b"{\"a\":\"\\ud800\\u0000\"}\r\n",
        b"{\"a\":1,\"a\":2}\n",
        &long,
    ];
    for line in lines {
        append(&mut *journal, line, None)?;
    }
    ensure!(all_bytes(&*journal)? == lines.concat(), "the bytes were changed");
    Ok(())
}

fn batches(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    let at = lock(&mut *journal)?.len;
    let bytes = b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n{}\n";
    let id = |id| Some(EntryId::from(id));
    let lines = [
        NewLine { bytes: &bytes[..11], id: id("a"), parent: None },
        NewLine { bytes: &bytes[11..22], id: id("b"), parent: id("a") },
        NewLine { bytes: &bytes[22..], id: None, parent: None },
    ];
    let appended = journal.append(&NewLines { at, bytes, lines: &lines, publish: true });
    journal.unlock();
    appended?;
    ensure!(all_bytes(&*journal)? == [HEADER, bytes].concat(), "the lines are not one behind the other");
    Ok(())
}

fn unpublished(mut journal: Box<dyn Journal>) -> Outcome {
    lock(&mut *journal)?;
    let header = NewLine { bytes: HEADER, id: None, parent: None };
    let appended = journal.append(&NewLines { at: 0, bytes: HEADER, lines: &[header], publish: false });
    journal.unlock();
    appended?;
    ensure!(all_bytes(&*journal)? == HEADER, "the header cannot be read");
    append(&mut *journal, b"{}\n", None)?;
    ensure!(all_bytes(&*journal)? == [HEADER, b"{}\n"].concat(), "lines were lost when they were published");
    Ok(())
}

fn locking(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    for _ in 0..3 {
        let locked = lock(&mut *journal)?;
        ensure!(locked.len == HEADER.len() as u64, "the length is {} under the lock", locked.len);
        journal.unlock();
    }
    journal.unlock();
    append(&mut *journal, b"{}\n", None)?;
    ensure!(journal.len()? == HEADER.len() as u64 + 3, "an append after unused locks did not work");
    Ok(())
}

fn syncing(mut journal: Box<dyn Journal>) -> Outcome {
    journal.sync()?;
    append(&mut *journal, HEADER, None)?;
    journal.sync()?;
    journal.sync()?;
    ensure!(all_bytes(&*journal)? == HEADER, "sync changed the bytes");
    Ok(())
}

fn replacing(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    let new = [HEADER, b"{}\n"].concat();
    lock(&mut *journal)?;
    let refused = journal.replace("bak", &mut |_, out| out.write_all(&new), &mut |_| Err(Error::NotSaved));
    journal.unlock();
    ensure!(refused.is_err(), "a copy that failed its check was used");
    ensure!(all_bytes(&*journal)? == HEADER, "a failed replacement changed the bytes");
    lock(&mut *journal)?;
    let mut old_bytes = Vec::new();
    let replaced = journal.replace(
        "bak",
        &mut |old, out| {
            old_bytes = super::read_range(old, 0, old.len()? as usize)?;
            out.write_all(&new)
        },
        &mut |copy| if copy.len()? == new.len() as u64 { Ok(()) } else { Err(Error::NotSaved) },
    );
    journal.unlock();
    if !journal.capabilities().replace {
        ensure!(replaced.is_err(), "`replace` works, but is not among the capabilities");
        ensure!(all_bytes(&*journal)? == HEADER, "an unsupported replacement changed the bytes");
        return Ok(());
    }
    replaced?;
    ensure!(old_bytes == HEADER, "the old bytes were not passed on");
    ensure!(all_bytes(&*journal)? == new, "the new bytes are not there");
    append(&mut *journal, b"{}\n", None)?;
    ensure!(
        all_bytes(&*journal)? == [&new[..], b"{}\n"].concat(),
        "nothing can be appended after a replacement"
    );
    Ok(())
}

fn changing(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    append(&mut *journal, b"{}\n", None)?;
    let all = all_bytes(&*journal)?;
    for since in [0, HEADER.len(), HEADER.len() + 1, all.len()] {
        let changes = journal.changes(since as u64)?;
        if !journal.capabilities().changes {
            ensure!(changes.is_none(), "`changes` works, but is not among the capabilities");
            continue;
        }
        let changes = changes.ok_or("`changes` is among the capabilities, but returned none")?;
        let is_right = all[since..].starts_with(&changes) && changes.is_empty() == all[since..].is_empty();
        ensure!(is_right, "the changes since {since} are other bytes");
    }
    Ok(())
}

/// Lines with long bodies: the last one has the id of the first.
fn long_lines() -> [Vec<u8>; 3] {
    let line = |id: &str, text: &str| {
        let text = text.repeat(1000);
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    [line("a", "x"), line("b", "y"), line("a", "z")].map(String::into_bytes)
}

fn indexing(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    let lines = long_lines();
    for line in &lines {
        append(&mut *journal, line, None)?;
    }
    let mut expected = Vec::new();
    let mut position = 0;
    for line in std::iter::once(HEADER).chain(lines.iter().map(Vec::as_slice)) {
        let text = &line[..line.len() - 1];
        expected.push((position, text.len() as u64, line_head(text).into_owned()));
        position += line.len() as u64;
    }
    for (place, (since, ..)) in expected.iter().enumerate() {
        let mut found = Vec::new();
        let indexed = journal.index(*since, &mut |line| {
            found.push((line.position, line.len, line.head.to_vec()));
            Ok(())
        });
        if !journal.capabilities().index {
            ensure!(indexed.is_err(), "`index` works, but is not among the capabilities");
            continue;
        }
        indexed?;
        ensure!(found == expected[place..], "the index from {since} has other lines");
    }
    Ok(())
}

fn finding(mut journal: Box<dyn Journal>) -> Outcome {
    append(&mut *journal, HEADER, None)?;
    let lines = long_lines();
    for (line, id) in lines.iter().zip(["a", "b", "a"]) {
        append(&mut *journal, line, Some(id))?;
    }
    let ids = |ids: &[&str]| -> Vec<EntryId> { ids.iter().map(|id| EntryId::from(*id)).collect() };
    let found = journal.lines(&ids(&["b", "a"]));
    if !journal.capabilities().lines {
        ensure!(found.is_err(), "`lines` works, but is not among the capabilities");
        return Ok(());
    }
    let expected = [&lines[1], &lines[2]].map(|line| line[..line.len() - 1].to_vec());
    ensure!(found? == expected, "other lines were found");
    let missing = journal.lines(&ids(&["a", "c"])).map_err(|error| error.kind());
    ensure!(missing == Err(std::io::ErrorKind::NotFound), "a line that is not there is {missing:?}");
    Ok(())
}
