/** The cost of one tree in requests, counted from the audit log of the server, compared with upstream. */
import { shapeNames, shapes } from './shapes.ts';
import type { Subject } from './subject.ts';

export async function benchRequests(subject: Subject): Promise<void> {
  console.log(`\nrequests per tree on the ${subject.name}`);
  await subject.install(['first'], 'mock');
  await subject.uninstall(['first']);
  for (const shape of shapeNames) {
    await subject.requests();
    await subject.install([`requests-${shape}`], shape);
    const { writes, events, reads, kinds } = await subject.requests();
    const { description, upstream } = shapes[shape];
    // the creation of the root is the user's
    const ours = writes - 1;
    console.log(
      `${shape.padEnd(6)} ${ours} writes, ${events} events, ${reads} reads; Landscaper: ${upstream.writes} writes, ` +
        `${upstream.reads} reads; ratio ${ratio(ours + events + reads, upstream.writes + upstream.reads)}` +
        `\n       (${description})`,
    );
    for (const [kind, count] of Object.entries(kinds))
      console.log(`       ${String(count).padStart(3)} ${kind}`);
    await subject.uninstall([`requests-${shape}`]);
  }
}

const ratio = (ours: number, theirs: number): string => (ours / theirs).toFixed(2);
