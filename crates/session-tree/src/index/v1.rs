//! Ids for entries of version 1, which have none.

use hmac_sha256::Hash;

/// Returns the id of the object at `index` (the header is 0): the same in every process that reads the file.
pub(super) fn entry_id(session_id: &str, index: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let mut retry = 0_u32;
    loop {
        let id = candidate(session_id, index, retry);
        if !is_taken(&id) {
            return id;
        }
        retry += 1;
    }
}

fn candidate(session_id: &str, index: usize, retry: u32) -> String {
    let mut hash = Hash::new();
    hash.update(session_id.as_bytes());
    hash.update([0]);
    hash.update(index.to_string().as_bytes());
    if retry > 0 {
        hash.update([0]);
        hash.update(retry.to_string().as_bytes());
    }
    hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
