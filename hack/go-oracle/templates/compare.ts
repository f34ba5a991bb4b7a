/** Compares templates and YAML with Go's: generated cases for both. */
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { parseYaml, toYaml } from '../../../src/lib/yaml.ts';
import { blueprintFunctions } from '../../../src/templating/blueprint-functions.ts';
import { execute, parseTemplate } from '../../../src/templating/gotemplate/template.ts';
import { compared, describe, type Comparison } from '../comparison.ts';
import type { Answer, Oracle, TemplateRequest, YamlRequest } from '../oracle.ts';
import { deterministicTemplates } from './nondeterministic.ts';
import { grammar } from './grammar.ts';
import { knownDifferences, RANDOM } from './known.ts';
import {
  formats,
  functionCalls,
  mutations,
  timeMethods,
  versions,
  yamlDocuments,
  yamlToRead,
  yamlToWrite,
} from './requests.ts';

type Request = TemplateRequest | YamlRequest;

/** @param size number of cases per kind */
export function compareTemplates(ask: Oracle, seed: number, size: number): Comparison {
  const rng = seededRng(seed);
  const requests: readonly Request[] = [
    ...grammar(rng, 2 * size),
    ...deterministicTemplates(),
    ...functionCalls(rng, Math.ceil(size / 50)),
    ...formats(rng, size),
    ...mutations(rng, size),
    ...timeMethods(rng, size),
    ...versions(rng, size),
    ...yamlToWrite(rng, size),
    ...yamlToRead(),
    ...yamlDocuments(rng, size),
  ];
  const answers = ask(requests);
  const different = requests.flatMap((request, i) => {
    const go = answers[i] as Answer;
    const ours = answerTo(request);
    return isSame(request, go, ours) ? [] : [{ request, go, ours }];
  });
  const isRandom = askedAgain(ask, different);
  const texts = different.map(({ request, go, ours }, i) => {
    const text = describe(JSON.stringify({ ...request, values: undefined }), show(go), show(ours));
    return isRandom[i] ? `${RANDOM} ${text}` : text;
  });
  return compared(requests.length, texts, knownDifferences);
}

interface Difference {
  readonly request: Request;
  readonly go: Answer;
  readonly ours: Answer;
}

/** @returns for each difference, whether Go sometimes answers as we do: then it depends on the order of a Go map */
function askedAgain(ask: Oracle, different: readonly Difference[]): readonly boolean[] {
  const answers = ask(different.flatMap(({ request }) => Array<Request>(TIMES).fill(request)));
  return different.map(({ request, ours }, i) =>
    answers.slice(i * TIMES, (i + 1) * TIMES).some((go) => isSame(request, go, ours)),
  );
}

/** Of two possible orders of a map, Go takes either in about half of the cases. */
const TIMES = 20;

/** Our answer to a request. */
export function answerTo(request: Request): Answer {
  try {
    if ('yaml' in request)
      return { output: JSON.stringify(parseYaml(request.yaml, { integers: 'rounded' })) };
    if ('toYaml' in request) return { output: toYaml(request.toYaml) };
    const options = { clock: systemClock, rng: seededRng(1), functions: blueprintFunctions };
    const template = parseTemplate('execution', request.template, blueprintFunctions);
    return { output: execute(template, request.values, options) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

export function isSame(request: Request, go: Answer, ours: Answer): boolean {
  if (!('yaml' in request)) return go.output === ours.output && go.error === ours.error;
  if (go.output === undefined || ours.output === undefined) return go.output === ours.output;
  return isDeepStrictEqual(JSON.parse(go.output), JSON.parse(ours.output));
}

const show = ({ output, error }: Answer): string =>
  error === undefined ? JSON.stringify(output) : `ERR ${error}`;
