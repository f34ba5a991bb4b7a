/**
 * `npm run bench -- [requests|trees|growth|traces|verbs|forms|commands|templating|runtime|start|soak|equal] [--envtest] [--trees N] [--namespaces N] [--objects N]`: measures; asserts nothing.
 * Growth, traces, verbs, the start on API servers that have to be filled first, and the soak take minutes, and only run if they are named.
 * With `--envtest` requests, trees and growth are measured on a kube-apiserver as well. `equal` compares one operator on
 * controller-runtime, which needs Go, with the same one on our runtime, on a kube-apiserver with `--envtest`.
 */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { benchCommands } from './commands.ts';
import { benchRequests } from './requests.ts';
import { benchPopulated, benchRuntime, benchSoak } from './runtime/index.ts';
import { benchEqual } from './runtime/equal.ts';
import { benchForms } from './forms.ts';
import { benchGrowth } from './growth.ts';
import { embedded, real } from './servers.ts';
import { subjectOn } from './subject.ts';
import { benchTemplating } from './templating.ts';
import { benchTraces } from './traces.ts';
import { benchTrees } from './trees.ts';
import { benchVerbs } from './verbs.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    envtest: { type: 'boolean', default: false },
    trees: { type: 'string', default: '200' },
    namespaces: { type: 'string', default: '1' },
    objects: { type: 'string', default: '60000' },
  },
});
const wanted = (what: string): boolean => positionals.length === 0 || positionals.includes(what);

if (wanted('templating')) await benchTemplating();
if (wanted('runtime')) await benchRuntime(Number(values.objects));
// As `espalier` does, so that the figures of memory are those of the product. Programs on the runtime do not.
setFlagsFromString('--heap-growing-percent=30');
if (positionals.includes('start')) await benchPopulated(Number(values.objects), values.envtest);
if (positionals.includes('verbs')) await benchVerbs();
if (positionals.includes('forms')) await benchForms();
if (positionals.includes('traces')) await benchTraces(Number(values.trees));
if (positionals.includes('commands')) await benchCommands();
if (positionals.includes('soak')) await benchSoak(Number(values.objects));
if (positionals.includes('equal')) {
  const server = await (values.envtest ? real : embedded)();
  await benchEqual(server).finally(() => server.stop());
}
const isGrowing = positionals.includes('growth');
if (wanted('requests') || wanted('trees') || isGrowing) {
  for (const server of values.envtest ? [embedded, real] : [embedded]) {
    const subject = await subjectOn(await server());
    try {
      if (wanted('requests')) await benchRequests(subject);
      if (wanted('trees')) await benchTrees(subject, Number(values.trees));
      if (isGrowing) await benchGrowth(subject, Number(values.trees), Number(values.namespaces));
    } finally {
      await subject.stop();
    }
  }
}
