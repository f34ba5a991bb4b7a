// Puts everything that the compiled program needs from npm, except for zod, into dist/node_modules: one file for each
// import, with the parts that several of them share in .chunks. Node.js finds them there before it looks into other
// folders, so the sources import packages by their names, and a project that depends on this package does not install
// them. zod is not bundled, because authors of operators and deployers pass its schemas to us.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

const TARGET = 'dist/node_modules';
const NOT_BUNDLED = ['zod'];
/** Loaded with `require`, which Node.js 20 allows for CommonJS only: imports by package. */
const REQUIRED = {
  pino: ['pino'],
  undici: [
    'undici/lib/api/index.js',
    'undici/lib/dispatcher/agent.js',
    'undici/lib/dispatcher/dispatcher.js',
    'undici/lib/dispatcher/pool.js',
    'undici/lib/dispatcher/proxy-agent.js',
    'undici/lib/dispatcher/socks5-proxy-agent.js',
  ],
};
/** Loaded with `import()`, and by client-node: parts of the same bundle, instead of all of undici once more. */
const UNDICI = {
  Agent: 'undici/lib/dispatcher/agent.js',
  ProxyAgent: 'undici/lib/dispatcher/proxy-agent.js',
  Socks5ProxyAgent: 'undici/lib/dispatcher/socks5-proxy-agent.js',
};
/** Loaded with `import()`: what is used of each. */
const IMPORTED_LATER = {
  '@kubernetes/client-node': ['KubeConfig'],
  '@kubernetes/client-node/dist/exec_auth.js': ['ExecAuth'],
};
/** What a package loads and the program does not use, by package: replaced by nothing. */
const UNUSED = {
  // For `inject`, which tests call.
  fastify: ['light-my-request'],
  // Summaries, with their trees, take 4 MB of memory when they are loaded.
  'prom-client': ['./lib/summary', './lib/pushgateway', './lib/cluster'],
};
const SETTINGS = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  // A third of the size; names of functions and classes stay, for stack traces and `constructor.name`.
  minify: true,
  keepNames: true,
  // Node.js prints the line in which an uncaught error was thrown.
  lineLimit: 200,
  // Of packages in both formats, ES modules: only these can be bundled in part.
  mainFields: ['module', 'main'],
  metafile: true,
  logLevel: 'warning',
};
// CommonJS modules in an ES module need a `require` for the modules of Node.js.
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/**
 * @param files compiled files of the program
 * @returns paths of the bundled source files
 */
export async function bundlePackages(files) {
  const wanted = importsIn(files);
  const contents = new Map(
    Object.entries(wanted).map(([from, names]) => [from, `export { ${names.join(', ')} } from '${from}';`]),
  );
  rmSync(TARGET, { recursive: true, force: true });
  const modules = await build({
    ...SETTINGS,
    entryPoints: [...contents.keys()].map((from) => ({ in: from, out: fileOf(from) })),
    plugins: [entries(contents), withoutUnusedKinds, withoutUnusedFiles],
    outdir: TARGET,
    outExtension: { '.js': '.mjs' },
    chunkNames: '.chunks/[hash]',
    format: 'esm',
    splitting: true,
    external: [...NOT_BUNDLED, ...Object.keys(REQUIRED)],
    banner: { js: REQUIRE },
  });
  const required = await Promise.all(Object.entries(REQUIRED).map(bundleRequired));
  writeFileSync(join(TARGET, 'undici/index.mjs'), undiciModule());
  writeManifests([
    ['undici', 'undici/index.mjs'],
    ...[...contents.keys()].map((from) => [from, `${fileOf(from)}.mjs`]),
    ...Object.values(REQUIRED).flatMap((list) => list.map((from) => [from, `${fileOf(from)}.cjs`])),
  ]);
  return [modules, ...required].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}

/** One bundle for all parts of a package, which have to share their classes, and a file for each part. */
async function bundleRequired([name, list]) {
  const parts = list.map((from) => `exports['${from}'] = () => require('${from}');`);
  const result = await build({
    ...SETTINGS,
    entryPoints: [{ in: name, out: `${name}/required` }],
    plugins: [entries(new Map([[name, parts.join('\n')]]))],
    outdir: TARGET,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
  });
  for (const from of list) {
    const file = join(TARGET, `${fileOf(from)}.cjs`);
    const bundle = relative(dirname(file), join(TARGET, name, 'required.cjs'));
    mkdirSync(dirname(file), { recursive: true });
    const path = bundle.startsWith('.') ? bundle : `./${bundle}`;
    writeFileSync(file, `module.exports = require('${path}')['${from}']();\n`);
  }
  return result;
}

const undiciModule = () =>
  [
    "import required from './required.cjs';",
    // As the main file does; without it, dispatchers have no method `request`.
    "Object.assign(required['undici/lib/dispatcher/dispatcher.js']().prototype, required['undici/lib/api/index.js']());",
    ...Object.entries(UNDICI).map(([name, from]) => `export const ${name} = required['${from}']();`),
    // For the client of client-node, which is not used.
    'export const { fetch } = globalThis;',
    '',
  ].join('\n');

/** Names by import, for example `{ re2js: ['RE2JS'] }`. */
function importsIn(files) {
  const found = new Map(Object.entries(IMPORTED_LATER).map(([from, names]) => [from, new Set(names)]));
  for (const file of files)
    for (const [, clause, from] of readFileSync(file, 'utf8').matchAll(
      /^import ([^;']+) from '([^.][^']*)';/gm,
    )) {
      if (from.startsWith('node:') || NOT_BUNDLED.includes(nameOf(from))) continue;
      const names = found.get(from) ?? new Set();
      for (const name of namesIn(clause, file)) names.add(name);
      found.set(from, names);
    }
  return Object.fromEntries([...found].sort().map(([from, names]) => [from, [...names].sort()]));
}

/** `['default', 'b']` for `a, { b as c }`. */
function namesIn(clause, file) {
  if (clause.includes('*')) throw new Error(`${file}: import names from packages, not "${clause}"`);
  const [, first, listed = ''] = /^(\w+)?[\s,]*(?:\{([^}]*)\})?$/.exec(clause.trim());
  const named = listed.split(',').map((each) => each.trim().split(' as ')[0]);
  return [...(first ? ['default'] : []), ...named.filter((name) => name !== '')];
}

/** Entry points with the given contents, by name. */
const entries = (contents) => ({
  name: 'entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'entry-point' ? { path, namespace: 'entries' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'entries' }, ({ path }) => ({
      contents: contents.get(path),
      resolveDir: process.cwd(),
    }));
  },
});

/** The generated kinds of client-node are not used; without this they would stay, in case they have side effects. */
const withoutUnusedKinds = {
  name: 'without-unused-kinds',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
      /[\\/]@kubernetes[\\/]client-node[\\/]dist([\\/]|$)/.test(resolveDir)
        ? { path: join(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
};

const withoutUnusedFiles = {
  name: 'without-unused-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, resolveDir }) => {
      const [, name] = /node_modules[\\/]([^\\/]+)$/.exec(resolveDir) ?? [];
      return UNUSED[name]?.includes(path) ? { path, namespace: 'unused' } : undefined;
    });
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = undefined;' }));
  },
};

const nameOf = (specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0];
const pathIn = (specifier) => specifier.slice(nameOf(specifier).length);
/** The file of an import, without extension. */
const fileOf = (specifier) => (pathIn(specifier) ? specifier.replace(/\.js$/, '') : `${specifier}/index`);

/** Each package has a manifest, so that Node.js resolves its imports and scanners see its version. */
function writeManifests(files) {
  for (const name of new Set(files.map(([specifier]) => nameOf(specifier)))) {
    const { version, license } = manifestOf(`node_modules/${name}`);
    const exports = Object.fromEntries(
      files
        .filter(([specifier]) => nameOf(specifier) === name)
        .map(([specifier, file]) => [`.${pathIn(specifier)}`, `.${file.slice(name.length)}`]),
    );
    const text = JSON.stringify({ name, version, license, private: true, exports }, null, 2);
    writeFileSync(join(TARGET, name, 'package.json'), `${text}\n`);
  }
}

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/**
 * Folders of the packages that the files belong to.
 * @param files paths in `node_modules`
 */
export function packagesOf(files) {
  const folders = files.flatMap(
    (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [],
  );
  // The bundle of dagre contains its graph library.
  if (folders.includes('node_modules/@dagrejs/dagre')) folders.push('node_modules/@dagrejs/graphlib');
  return [...new Set(folders)].sort();
}

/** The licences of packages, which have to accompany a bundle; each text once, below its packages and their copyrights. */
export function licensesOf(folders) {
  const groups = new Map();
  for (const folder of folders) {
    const { name, version, license } = manifestOf(folder);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `License: ${license}`;
    const [notices, terms] = noticesAndTerms(text);
    const words = terms.replace(/\s+/g, ' ').replace(/'/g, '"');
    const group = groups.get(words) ?? { terms, packages: [] };
    groups.set(words, group);
    group.packages.push([`${name} ${version}`, ...notices].join('\n'));
  }
  return [...groups.values()]
    .map(({ terms, packages }) => `${packages.join('\n')}\n\n${terms}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The copyright lines of a licence, and the rest, which is the same for many packages. */
function noticesAndTerms(text) {
  const isNotice = (line) => /^\s*Copyright (\(c\)|©|\d)/i.test(line);
  const lines = text.replace(/\r/g, '').split('\n');
  return [
    lines.filter(isNotice).map((line) => line.trim()),
    lines
      .filter((line) => !isNotice(line))
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  ];
}

/** Names and versions of packages. */
export const versionsOf = (folders) =>
  folders.map((folder) => {
    const { name, version } = manifestOf(folder);
    return { name, version };
  });
