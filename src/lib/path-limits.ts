/** How long the paths of file trees may be: those of Linux, counted before anything is done with a path. */

const MAX_PATH_BYTES = 4096;
export const MAX_PATH_PARTS = 255;

/** The names on the way, without empty ones and `.`. */
export const partsOf = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && part !== '.');

/** The problem of a path that is too long, as the end of a sentence that begins with the path. */
export function pathProblem(path: string): string | undefined {
  // A text has at least as many bytes as characters: most long ones are known without a look at them.
  if (path.length > MAX_PATH_BYTES || Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return `has more than ${String(MAX_PATH_BYTES)} bytes`;
  }
  return partsOf(path).length > MAX_PATH_PARTS ? `has more than ${String(MAX_PATH_PARTS)} parts` : undefined;
}

/** A path for a message, however long it is. */
export const shortPath = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);
