/** A passage that answers, and where it can be read. */
export interface Passage {
  title: string;
  text: string;
  citationUrl: string;
}

/** Return the passages of a pack that answer a question, best first. */
export async function findPassages(
  server: string,
  pack: string,
  question: string,
  limit = 5,
): Promise<Passage[]> {
  const asked = new URLSearchParams({ query: question, limit: String(limit), includeText: "true" });
  const answer = await fetch(`${server}/api/${pack}/search?${asked}`);
  if (!answer.ok) throw new Error(`${server} answers ${answer.status}`);
  return (await answer.json()).results;
}
