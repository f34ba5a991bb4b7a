/** Splits a log into lines, while it is read. */

/** Longer lines are cut, so that a file without line breaks does not fill the memory. */
const MAX_LINE_CHARACTERS = 2 ** 20;

/** A line that was cut is not JSON, so it is not shown. */
export async function* linesOf(
  parts: AsyncIterable<Uint8Array>,
  maxCharacters = MAX_LINE_CHARACTERS,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const extended = (line: string, more: string): string =>
    line.length >= maxCharacters ? line : (line + more).slice(0, maxCharacters);
  let rest = '';
  for await (const part of parts) {
    const [first = '', ...others] = decoder.decode(part, { stream: true }).split('\n');
    rest = extended(rest, first);
    for (const line of others) {
      yield rest;
      rest = extended('', line);
    }
  }
  if (rest !== '') yield rest;
}
