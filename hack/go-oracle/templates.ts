/** Templates and YAML, ours and Go's: made-up cases, asked of both. */
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRng } from '../../src/lib/rng.ts';
import { parseYaml, toYaml } from '../../src/lib/yaml.ts';
import { blueprintFunctions } from '../../src/templating/blueprint-functions.ts';
import { execute, parseTemplate } from '../../src/templating/gotemplate/template.ts';
import { certainties } from './certain.ts';
import { grammar } from './grammar.ts';
import { knownDifferences } from './known.ts';
import type { OracleRequest } from './made-of.ts';
import { askGo, withOracle, type Answer } from './oracle.ts';
import {
  formats,
  functionCalls,
  mutations,
  versions,
  yamlDocuments,
  yamlToRead,
  yamlToWrite,
} from './requests.ts';

export interface Comparison {
  readonly cases: number;
  readonly differences: readonly string[];
  /** How often each known difference was met. */
  readonly known: ReadonlyMap<string, number>;
}

/** @param size cases per kind */
export async function compareTemplates(seed: number, size: number): Promise<Comparison> {
  const rng = seededRng(seed);
  const requests = [
    ...grammar(rng, 2 * size),
    ...certainties(),
    ...functionCalls(rng, Math.ceil(size / 50)),
    ...formats(rng, size),
    ...mutations(rng, size),
    ...versions(rng, size),
    ...yamlToWrite(rng, size),
    ...yamlToRead(),
    ...yamlDocuments(rng, size),
  ];
  const answers = await withOracle((binary) => askGo(binary, requests));
  const known = new Map<string, number>();
  const differences: string[] = [];
  requests.forEach((request, i) => {
    const go = answers[i] as Answer;
    const ours = ask(request);
    if (isSame(request, go, ours)) return;
    const text = describe(request, go, ours);
    const why = knownDifferences.find(({ pattern }) => pattern.test(text))?.why;
    if (why === undefined) differences.push(text);
    else known.set(why, (known.get(why) ?? 0) + 1);
  });
  return { cases: requests.length, differences, known };
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

function isSame(request: OracleRequest, go: Answer, ours: Answer): boolean {
  if (request.yaml === undefined) return go.output === ours.output && go.error === ours.error;
  if (go.output === undefined || ours.output === undefined) return go.output === ours.output;
  return isDeepStrictEqual(JSON.parse(go.output), JSON.parse(ours.output));
}

function describe(request: OracleRequest, go: Answer, ours: Answer): string {
  const asked = JSON.stringify({ ...request, values: undefined });
  return `${asked}\n  Go:   ${show(go)}\n  ours: ${show(ours)}`;
}

const show = ({ output, error }: Answer): string =>
  error === undefined ? JSON.stringify(output) : `ERR ${error}`;
