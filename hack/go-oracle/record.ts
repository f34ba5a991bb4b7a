/**
 * Records the results of the originals, for tests that run without Go:
 *
 *     node --import tsx hack/go-oracle/record.ts [generated]
 *
 * It records the calls of Spiff functions that the results file already contains (add a new one with an empty
 * answer), the executions below test/fixtures/blueprints, and cases that are
 * generated with a fixed seed; with `generated`, only these.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { toYaml } from '../../src/lib/yaml.ts';
import { topics, type BlueprintCase, type RecordedAnswer } from '../../test/support/blueprints.ts';
import { GoUnavailable } from '../go/build.ts';
import { answerTo, isSame, stored, type GeneratedCase } from './generated.ts';
import { openOracle, type Answer, type Oracle } from './oracle.ts';
import { compareSpiff } from './spiff/compare.ts';
import { compareTemplates } from './templates/compare.ts';

interface RecordedCall {
  /** `join(args.[0], 5)` */
  readonly call: string;
  /** YAML on one line. */
  readonly args: string;
  readonly result?: unknown;
  readonly error?: string;
}

const CALLS = new URL('../../test/unit/templating/spiff/functions/recorded.json', import.meta.url);

async function writeJson(path: string, value: unknown): Promise<void> {
  const options = { ...(await resolveConfig(path)), filepath: path };
  writeFileSync(path, await format(JSON.stringify(value, null, 2), options));
}

async function recordCalls(ask: Oracle): Promise<void> {
  const recorded = JSON.parse(readFileSync(CALLS, 'utf8')) as Record<string, readonly RecordedCall[]>;
  const answered = Object.fromEntries(
    Object.entries(recorded).map(([topic, calls]) => {
      const answers = ask(calls.map(({ call, args }) => ({ document: `args: ${args}\nx: (( ${call} ))\n` })));
      return [topic, calls.map((call, i) => withAnswer(call, answers[i] as Answer))];
    }),
  );
  await writeJson(fileURLToPath(CALLS), answered);
}

function withAnswer({ call, args }: RecordedCall, { output, error }: Answer): RecordedCall {
  if (error === undefined) return { call, args, result: (JSON.parse(output ?? '{}') as { x: unknown }).x };
  return { call, args, error: /\tx\t\(\)\t\*([^]*)$/.exec(error)?.[1] ?? error };
}

async function recordBlueprints(ask: Oracle): Promise<void> {
  for (const { engine, cases, answers } of topics) {
    const recorded = engine === 'spiff' ? spiffAnswers(ask, cases) : templateAnswers(ask, cases);
    const named = cases.map(({ name }, i) => [name, recorded[i]] as const);
    await writeJson(answers, Object.fromEntries(named));
  }
}

/** The output, and its value as YAML. */
function templateAnswers(ask: Oracle, cases: readonly BlueprintCase[]): readonly RecordedAnswer[] {
  const texts = ask(cases.map(({ template, values }) => ({ template, values })));
  const read = ask(texts.map(({ output = '' }) => ({ yaml: output })));
  return texts.map(({ output, error }, i) => {
    if (error !== undefined) return { error };
    const { output: result, error: problem } = read[i] as Answer;
    const lines = (output ?? '').split('\n');
    return problem === undefined
      ? { lines, result: JSON.parse(result ?? 'null') as unknown }
      : { lines, error: problem };
  });
}

function spiffAnswers(ask: Oracle, cases: readonly BlueprintCase[]): readonly RecordedAnswer[] {
  const answers = ask(
    cases.map(({ template, values, stored = {}, files = {} }) => ({
      document: template,
      bindings: values,
      stored: toYaml(stored),
      files,
    })),
  );
  return answers.map(({ output, error }) =>
    error === undefined ? (JSON.parse(output ?? '{}') as RecordedAnswer) : { error },
  );
}

const GENERATED = new URL('../../test/unit/templating/originals.json', import.meta.url);
const SEED = 1;
/** Cases of each kind. */
const SIZE = 50;
/** They take long, and have tests of their own. */
const SLOW =
  /genCA|genPrivateKey|genSelf|genSigned|buildCustom|derivePassword|bcrypt|htpasswd|x509|encrypt|decrypt|md5crypt/;

/** Cases that have one answer, and the same as ours: differences are known, or depend on the order of a Go map. */
function recordGenerated(ask: Oracle): void {
  const found = new Map<string, GeneratedCase | undefined>();
  const listening: Oracle = (requests) => {
    const [answers, again] = [ask(requests), ask(requests)];
    requests.forEach((request, i) => {
      const answer = answers[i] as Answer;
      const isKept =
        !SLOW.test(JSON.stringify({ ...request, values: undefined })) &&
        JSON.stringify(answer) === JSON.stringify(again[i]) &&
        isSame(request, answer, answerTo(request));
      const key = JSON.stringify(request);
      found.set(key, isKept && !(found.has(key) && !found.get(key)) ? { request, answer } : undefined);
    });
    return answers;
  };
  compareTemplates(listening, SEED, SIZE);
  compareSpiff(listening, SEED, SIZE);
  const cases = [...found.values()].filter((one) => one !== undefined);
  // One line for each case.
  const { values, cases: entries } = stored(cases);
  const lines = entries.map((entry) => JSON.stringify(entry)).join(',\n');
  writeFileSync(GENERATED, `{\n"values": ${JSON.stringify(values)},\n"cases": [\n${lines}\n]\n}\n`);
}

process.env['TZ'] = 'UTC';
try {
  const ask = openOracle((line) => void process.stdout.write(`${line}\n`));
  if (process.argv[2] !== 'generated') {
    await recordCalls(ask);
    await recordBlueprints(ask);
  }
  recordGenerated(ask);
} catch (error) {
  if (!(error instanceof GoUnavailable)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 3;
}
