/** Parses image references like Docker, for parseOCIRef and related functions. */

const HOST = /^(?:localhost|[^/]*[.:][^/]*)\//;

/**
 * Repository and version (digest, otherwise tag, otherwise empty) of a reference.
 * @returns undefined for a string without `:`
 */
export function parseOciReference(reference: string): readonly [string, string] | undefined {
  if (!reference.includes(':')) return undefined;
  const at = reference.indexOf('@');
  const tagged = at < 0 ? reference : reference.slice(0, at);
  const digest = at < 0 ? '' : reference.slice(at + 1);
  const tag = /:([^:/]+)$/.exec(tagged)?.[1];
  const name = tag === undefined ? tagged : tagged.slice(0, -tag.length - 1);
  return [shortName(name), digest === '' ? (tag ?? '') : digest];
}

/** The name without Docker's default host, which upstream never shows. */
function shortName(name: string): string {
  const full = HOST.test(name) ? name : `docker.io/${name}`;
  return full.replace(/^(?:index\.)?docker\.io\/(?:library\/)?/, '');
}
