/**
 * How much a JSON text may stand for. `JSON.parse` cannot be stopped: a text of a few MiB that stands for millions of
 * values makes V8 end the whole process when the heap is full, even in a worker thread that has a limit of its own.
 */

export const MAX_JSON_VALUES = 1_000_000;
export const MAX_JSON_DEPTH = 10_000;

export class JsonTooLarge extends Error {
  override readonly name = 'JsonTooLarge';
}

/** @throws JsonTooLarge, SyntaxError */
export function parseBoundedJson(text: string): unknown {
  checkJsonBounds(text);
  return JSON.parse(text) as unknown;
}

/** Linear, and nothing for texts that are too short to hold so much. @throws JsonTooLarge */
export function checkJsonBounds(text: string): void {
  if (text.length <= MAX_JSON_DEPTH) return;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN_MAP:
        values++;
        if (++depth > MAX_JSON_DEPTH) {
          throw new JsonTooLarge(
            `the JSON is nested more than ${String(MAX_JSON_DEPTH)} deep, which is the limit`,
          );
        }
        break;
      case CLOSE_LIST:
      case CLOSE_MAP:
        depth--;
        break;
      case COMMA:
        values++;
    }
    if (values > MAX_JSON_VALUES) {
      throw new JsonTooLarge(
        `the JSON holds more than ${String(MAX_JSON_VALUES)} values, which is the limit`,
      );
    }
  }
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_MAP = 123;
const CLOSE_MAP = 125;
const BACKSLASH = 92;

/** Where the quote is that ends the string; the last character when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}
