/** Maximum lengths of paths in file trees: those of Linux, checked before a path is used. */

const MAX_PATH_BYTES = 4096;
export const MAX_PATH_PARTS = 255;

/** The names in the path, without empty ones and `.`. */
export const partsOf = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && part !== '.');

/** The problem of a path that is too long, as the end of a sentence that begins with the path. */
export function pathProblem(path: string): string | undefined {
  // A string has at least as many bytes as characters, so most long ones are detected without encoding them.
  if (path.length > MAX_PATH_BYTES || Buffer.byteLength(path) > MAX_PATH_BYTES) {
    return `has more than ${String(MAX_PATH_BYTES)} bytes`;
  }
  return partsOf(path).length > MAX_PATH_PARTS ? `has more than ${String(MAX_PATH_PARTS)} parts` : undefined;
}

/** A path for a message, shortened if it is too long. */
export const shortPath = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);
