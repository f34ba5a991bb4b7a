/** Benchmarks, which measure and assert nothing, and the guard, which fails if costs have risen. */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { benchCommands } from './commands.ts';
import { benchCompare } from './compare/index.ts';
import { guard } from './guard/index.ts';
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

const USAGE = `usage: make bench ARGS="[BENCHMARK…] [--envtest] [--trees N] [--namespaces N] [--objects N]"

Without a name, these run:
  requests    requests per tree by verb and kind
  trees       how many trees are installed and deleted per second
  templating  templates, also in separate processes and with Go's engine
  runtime     queue, caches and reconciles

These only run if they are named:
  compare     the product of another commit and of this checkout, by turns: processor time, writes, bytes, memory, start;
              --base COMMIT, [--rounds N], [--envtest or --no-envtest: default on kube-apiserver too if it is built]
  guard       fails if a tree costs more than in test/bench/guard/baseline.json; [--update REASON]: changes that file
  growth      processor time per tree while a cluster fills; minutes
  traces      the cost of traces
  verbs       time per request on both servers
  forms       the cost of a status write in different forms
  commands    how long commands take
  start       a start on API servers with many objects; minutes
  soak        24 simulated hours with faults; minutes
  equal       one operator on controller-runtime, which needs Go, and on our runtime

--envtest measures requests, trees, growth, start and equal on a kube-apiserver.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    envtest: { type: 'boolean' },
    base: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    update: { type: 'string' },
    trees: { type: 'string', default: '200' },
    namespaces: { type: 'string', default: '1' },
    objects: { type: 'string', default: '60000' },
  },
});
const isEnvtest = values.envtest ?? false;
if (values.help) {
  console.log(USAGE);
  process.exit();
}
if (positionals.includes('compare') && values.base === undefined) {
  console.error(`error: compare needs --base COMMIT\n\n${USAGE}`);
  process.exit(2);
}
const wanted = (what: string): boolean => positionals.length === 0 || positionals.includes(what);

if (wanted('templating')) await benchTemplating();
if (wanted('runtime')) await benchRuntime(Number(values.objects));
// As `espalier` does, so that the figures of memory are those of the product. Programs on the runtime do not.
setFlagsFromString('--heap-growing-percent=30');
if (positionals.includes('start')) await benchPopulated(Number(values.objects), isEnvtest);
if (positionals.includes('verbs')) await benchVerbs();
if (positionals.includes('forms')) await benchForms();
if (positionals.includes('traces')) await benchTraces(Number(values.trees));
if (positionals.includes('commands')) await benchCommands();
if (positionals.includes('compare') && values.base !== undefined) {
  const [rounds, trees] = [Number(values.rounds), Number(values.trees)];
  await benchCompare({ base: values.base, rounds, trees, envtest: values.envtest });
}
if (positionals.includes('guard') && !(await guard(values.update))) process.exitCode = 1;
if (positionals.includes('soak')) await benchSoak(Number(values.objects));
if (positionals.includes('equal')) {
  const server = await (isEnvtest ? real : embedded)();
  await benchEqual(server).finally(() => server.stop());
}
const isGrowing = positionals.includes('growth');
if (wanted('requests') || wanted('trees') || isGrowing) {
  for (const server of isEnvtest ? [embedded, real] : [embedded]) {
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
