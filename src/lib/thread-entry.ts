/** Where a thread begins. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * The file that a thread runs, beside the module that starts it. Sources, as tests run them, need a loader that threads
 * do not inherit.
 * @param base `import.meta.url` of the module
 * @param name of the file, without its ending
 */
export function threadEntry(base: string, name: string): URL {
  if (!base.endsWith('.ts')) return new URL(`${name}.js`, base);
  const entry = new URL(`${name}.ts`, base);
  const loader = createRequire(entry).resolve('tsx/esm/api').replace(/cjs$/, 'mjs');
  const code = `import { register } from '${pathToFileURL(loader).href}'; register(); await import('${entry.href}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
