/**
 * Compares the template engine and the YAML of this project with Go's own, over a few ten thousand made-up cases.
 *
 *     node --import tsx hack/go-oracle/compare.ts [SEED] [CASES PER KIND]
 *
 * Needs Go and its module proxy. Prints each difference; exit code 1 when there is one that is not known.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRng } from '../../src/lib/rng.ts';
import { parseYaml, toYaml } from '../../src/lib/yaml.ts';
import { blueprintFunctions } from '../../src/templating/blueprint-functions.ts';
import { execute, parseTemplate } from '../../src/templating/gotemplate/template.ts';
import {
  formats,
  functionCalls,
  mutations,
  versions,
  yamlDocuments,
  yamlToRead,
  yamlToWrite,
  type OracleRequest,
} from './requests.ts';

interface Answer {
  readonly output?: string;
  readonly error?: string;
}

/** Where we differ on purpose or do not care; checked against the request and both answers. */
const KNOWN: readonly (readonly [string, RegExp])[] = [
  ['wording of functions that fail', /ERR .*error calling (\w+): .*\n.*ERR .*error calling \1: /s],
  ['a hint about imported numbers', /imported numbers are floating point/],
  ['hexadecimal doubles', /%[^ ]*[xXb].*\n.*0[xX]1?\.?|%!\w?[xXb]\(float64/s],
  ['copies of versions', /deepCopy|DeepCopy/],
  ['nil where a map is wanted', /[mM]erge(Overwrite)? nil/],
  ['complex numbers', /[0-9]i\b/],
  ['addresses that Go refuses', /urlParse|urlJoin/],
  ['limits of ours', /TemplateLimitExceeded|more than|exceeded/],
  ['what follows a flow collection at the top', /fromYaml|"yaml":"\s*[[{]/],
  ['halves of characters', /[\ud800-\udfff]|U\+D[89A-F]/],
  ['control characters in YAML', /nospace/],
  ['keys whose order upstream leaves to chance', /"toYaml":.*(\d{19}|"0\w+")/],
  ['local mean time', / LMT /],
  ['times that can be read in two ways', /[tT]oDate /],
];

function build(folder: string): string {
  const binary = join(folder, 'oracle');
  const built = spawnSync('go', ['build', '-o', binary, '.'], { cwd: import.meta.dirname, stdio: 'inherit' });
  if (built.status !== 0) throw new Error('go build failed; is Go installed?');
  return binary;
}

function askGo(binary: string, requests: readonly OracleRequest[]): readonly Answer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { stdout } = spawnSync(binary, { input, maxBuffer: 2 ** 30 });
  const lines = stdout.toString('utf8').trimEnd().split('\n');
  if (lines.length !== requests.length)
    throw new Error(`Go gave up at ${JSON.stringify(requests[lines.length])}`);
  return lines.map((line) => JSON.parse(line) as Answer);
}

function ask({ template, values, yaml, toYaml: value }: OracleRequest): Answer {
  try {
    if (yaml !== undefined) return { output: JSON.stringify(parseYaml(yaml, { integers: 'rounded' })) };
    if (template === undefined) return { output: toYaml(value) };
    const options = { clock: systemClock, rng: seededRng(1), functions: blueprintFunctions };
    return { output: execute(parseTemplate('execution', template, blueprintFunctions), values, options) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

const show = ({ output, error }: Answer): string =>
  error === undefined ? JSON.stringify(output) : `ERR ${error}`;

function isSame(request: OracleRequest, go: Answer, ours: Answer): boolean {
  if (request.yaml === undefined) return go.output === ours.output && go.error === ours.error;
  if (go.output === undefined || ours.output === undefined) return go.output === ours.output;
  return isDeepStrictEqual(JSON.parse(go.output), JSON.parse(ours.output));
}

const [seed = '1', count = '2000'] = process.argv.slice(2);
const rng = seededRng(Number(seed));
const size = Number(count);
const requests = [
  ...functionCalls(rng, Math.ceil(size / 50)),
  ...formats(rng, size),
  ...mutations(rng, size),
  ...versions(rng, size),
  ...yamlToWrite(rng, size),
  ...yamlToRead(),
  ...yamlDocuments(rng, size),
];

const folder = mkdtempSync(join(tmpdir(), 'go-oracle-'));
try {
  const answers = askGo(build(folder), requests);
  const known = new Map<string, number>();
  let unknown = 0;
  requests.forEach((request, i) => {
    const go = answers[i] as Answer;
    const ours = ask(request);
    if (isSame(request, go, ours)) return;
    const text = `${JSON.stringify({ ...request, values: undefined })}\n  Go:   ${show(go)}\n  ours: ${show(ours)}`;
    const reason = KNOWN.find(([, pattern]) => pattern.test(text))?.[0];
    if (reason !== undefined) known.set(reason, (known.get(reason) ?? 0) + 1);
    else {
      unknown++;
      process.stdout.write(`${text}\n`);
    }
  });
  const tolerated = [...known].map(([reason, n]) => `${reason}: ${String(n)}`).join(', ') || 'none';
  process.stdout.write(
    `${String(requests.length)} cases, ${String(unknown)} differences; known ones: ${tolerated}\n`,
  );
  process.exitCode = unknown > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
