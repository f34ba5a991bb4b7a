/** Finds duplicate members in a JSON text, which `JSON.parse` hides. Pure. */

/**
 * @param text valid JSON
 * @returns paths such as `spec.containers[0].image`, in order of appearance
 */
export function duplicateKeys(text: string): string[] {
  const found: string[] = [];
  const stack: { path: string; keys: Set<string> | undefined; index: number; key: string }[] = [];
  let i = 0;
  let expectKey = false;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    const top = stack[stack.length - 1];
    if (c === 34) {
      const end = stringEnd(text, i);
      if (expectKey && top?.keys) {
        const raw = text.slice(i + 1, end);
        const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
        if (top.keys.has(key)) found.push(top.path === '' ? key : `${top.path}.${key}`);
        top.keys.add(key);
        top.key = key;
        expectKey = false;
      }
      i = end + 1;
      continue;
    }
    if (c === 123 || c === 91) {
      const path = top === undefined ? '' : childOf(top);
      stack.push({ path, keys: c === 123 ? new Set() : undefined, index: 0, key: '' });
      expectKey = c === 123;
    } else if (c === 125 || c === 93) {
      stack.pop();
      expectKey = false;
    } else if (c === 44 && top) {
      top.index++;
      expectKey = top.keys !== undefined;
    }
    i++;
  }
  return found;
}

const childOf = (top: { path: string; keys: Set<string> | undefined; index: number; key: string }): string =>
  top.keys === undefined ? `${top.path}[${top.index}]` : top.path === '' ? top.key : `${top.path}.${top.key}`;

function stringEnd(text: string, start: number): number {
  let i = start + 1;
  while (text.charCodeAt(i) !== 34) i += text.charCodeAt(i) === 92 ? 2 : 1;
  return i;
}
