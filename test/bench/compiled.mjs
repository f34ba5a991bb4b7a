// Benchmarks import the sources from dist: they measure what users run, not the output of a loader.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const root = new URL('../../', import.meta.url).href;

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const [, path] = /^((?:src|controllers|deployers)\/.*)\.ts$/.exec(found.url.slice(root.length)) ?? [];
  if (!found.url.startsWith(root) || path === undefined) return found;
  return { ...found, url: `${root}dist/${path}.js`, format: 'module' };
}

if (isMainThread) register(import.meta.url);
