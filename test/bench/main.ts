/**
 * `npm run bench -- [requests|trees|templating] [--envtest] [--trees N]`: measures; asserts nothing. With `--envtest`
 * requests and trees are measured on a kube-apiserver as well.
 */
import { parseArgs } from 'node:util';
import { benchRequests } from './requests.ts';
import { embedded, real, subjectOn } from './subject.ts';
import { benchTemplating } from './templating.ts';
import { benchTrees } from './trees.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { envtest: { type: 'boolean', default: false }, trees: { type: 'string', default: '200' } },
});
const wanted = (what: string): boolean => positionals.length === 0 || positionals.includes(what);

if (wanted('templating')) await benchTemplating();
if (wanted('requests') || wanted('trees')) {
  for (const server of values.envtest ? [embedded, real] : [embedded]) {
    const subject = await subjectOn(await server());
    try {
      if (wanted('requests')) await benchRequests(subject);
      if (wanted('trees')) await benchTrees(subject, Number(values.trees));
    } finally {
      await subject.stop();
    }
  }
}
