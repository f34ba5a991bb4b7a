// Loads the code with mutants in the place of the product's. A module whose importer has a query, as ?copy=7, gets the
// same query: the whole graph is loaded again, with a mutant in code that runs on import.
import { existsSync, readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const root = join(import.meta.dirname, '../..');
const own = pathToFileURL(root).href + '/';
const packages = own + 'node_modules/';

export async function resolve(specifier, context, next) {
  const result = await next(specifier, context);
  const copy = /[?&]copy=\d+/.exec(context.parentURL ?? '')?.[0].slice(1);
  const isOwn = result.url.startsWith(own) && !result.url.startsWith(packages);
  if (copy === undefined || !isOwn || result.url.includes('copy=')) return result;
  return { ...result, url: `${result.url}${result.url.includes('?') ? '&' : '?'}${copy}` };
}

export async function load(url, context, next) {
  if (!url.startsWith(own) || url.startsWith(packages)) return next(url, context);
  const file = join(root, '.cache/mutate/code', fileURLToPath(url).slice(root.length) + '.mjs');
  if (!existsSync(file)) return next(url, context);
  return { format: 'module', source: readFileSync(file, 'utf8'), shortCircuit: true };
}

if (isMainThread && process.env.MUTATE_LOADER === 'on') register(import.meta.url);
