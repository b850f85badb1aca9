// How well texts fit to what was typed.

/// Scores a text: lower is better. Letters in a row and at the start of words are worth most.
export function fuzzyMatch(query, text) {
  const wanted = query.toLowerCase();
  const given = text.toLowerCase();
  if (wanted === "") return { matches: true, score: 0 };
  let [score, from, last, inRow] = [0, 0, -1, 0];
  for (const char of wanted) {
    const at = given.indexOf(char, from);
    if (at < 0) return { matches: false, score: 0 };
    if (last === at - 1) {
      inRow += 1;
      score -= inRow * 5;
    } else {
      inRow = 0;
      if (last >= 0) score += (at - last - 1) * 2;
    }
    if (at === 0 || /[\s\-_./:]/.test(given[at - 1])) score -= 10;
    score += at * 0.1;
    [last, from] = [at, at + char.length];
  }
  return { matches: true, score: given === wanted ? score - 100 : score };
}

export function fuzzyFilter(items, query, textOf = (item) => String(item)) {
  const words = query.trim().split(/[\s/]+/).filter(Boolean);
  if (words.length === 0) return items;
  const scored = [];
  for (const item of items) {
    const results = words.map((word) => fuzzyMatch(word, textOf(item)));
    if (results.every((result) => result.matches)) {
      scored.push({ item, score: results.reduce((sum, result) => sum + result.score, 0) });
    }
  }
  return scored.sort((a, b) => a.score - b.score).map((one) => one.item);
}
