//! The beginnings of ids that are enough to name a session.

/// No shorter beginning is shown, so that columns look alike and few letters are no accident.
const SHORTEST: usize = 8;

/// The ids of a list, sorted.
#[derive(Debug)]
pub(super) struct ShortIds<'i>(Vec<&'i str>);

impl<'i> ShortIds<'i> {
    pub(super) fn of(ids: impl Iterator<Item = &'i str>) -> Self {
        let mut ids: Vec<&str> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        ShortIds(ids)
    }

    /// Returns the shortest beginning that no other id of the list has.
    pub(super) fn short<'s>(&self, id: &'s str) -> &'s str {
        let at = self.0.partition_point(|other| *other < id);
        let before = at.checked_sub(1).and_then(|at| self.0.get(at));
        let beside = before.into_iter().chain(self.0.get(at + 1));
        let shared = beside.map(|other| shared_length(id, other)).max().unwrap_or(0);
        let enough = (shared + 1).max(SHORTEST);
        id.char_indices().nth(enough).map_or(id, |(end, _)| &id[..end])
    }
}

fn shared_length(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::ShortIds;

    #[test]
    fn an_id_is_as_long_as_it_takes_to_be_the_only_one() {
        let ids = ["019a0b1c-1111-7000", "019a0b1c-1122-7000", "ffff0000-0000-4000", "short", ""];
        let short = ShortIds::of(ids.into_iter());
        let shown = ids.map(|id| short.short(id));
        assert_eq!(shown, ["019a0b1c-111", "019a0b1c-112", "ffff0000", "short", ""]);
    }
}
