/** `espalier __complete`, which shells and kubectl run for the possible last words of a line. */
import { expect } from 'chai';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { jobRecordKind } from '../../../src/api/landscaper-kinds.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { root } from '../../support/landscape.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const inProject = (object: Obj): Obj => {
  return { ...object, metadata: { ...object.metadata, namespace: 'proj' } };
};

const job = (number: number): Obj & { readonly spec: object } => ({
  apiVersion: 'espalier.dev/v1alpha1',
  kind: 'JobRecord',
  metadata: { name: `web-${String(number)}` },
  spec: {
    root: { name: 'web', uid: 'u' },
    number,
    jobID: `j${String(number)}`,
    request: { reason: 'Requested' },
    result: 'Succeeded',
  },
});

const objects = [
  root('web', {
    takes: { greeting: 'settings' },
    annotations: {},
    spec: {
      imports: {
        data: [{ name: 'greeting', dataRef: 'settings' }],
        targets: [{ name: 'cluster', target: 'my-cluster' }],
      },
    },
  }),
  root('database'),
];

describe('the last words of a line', () => {
  let server: Embedded;
  before(async () => {
    const [clock, log] = [systemClock, silentLogger];
    server = await startEmbedded({ simulate: false, controllers: ['none'], log, namespace: 'empty' });
    const kubeconfig = { text: server.kubeconfig };
    const client = createClient(await connect({ kubeconfig, userAgent: 'test', clock, log }));
    await ensureCrds(client, clock, log, { hasJournal: true });
    await applyAll(client, [namespaceObject('proj'), ...objects.map(inProject)]);
    for (const number of [1, 2])
      await client.send({ verb: 'create', kind: jobRecordKind, object: inProject(job(number)) });
    await client.close();
  });
  after(() => server.close());

  async function answer(words: readonly string[], env = { KUBECONFIG: server.kubeconfigFile }) {
    const terminal = fakeTerminal({ env });
    expect(await runProgram(['__complete', ...words], terminal)).to.equal(0);
    expect(terminal.errors).to.equal('');
    return terminal.output.trimEnd().split('\n');
  }

  for (const [line, words] of [
    [
      ['inst', 'inspect', '-n', 'proj', ''],
      ['database', 'web', ':4'],
    ],
    [
      ['inst', 'i', '--namespace=proj', 'w'],
      ['web', ':4'],
    ],
    [
      ['plan', '--delete', '-n', 'proj', 'd'],
      ['database', ':4'],
    ],
    // As bash splits them.
    [
      ['inst', 'inspect', '--namespace', '=', 'pr'],
      ['proj', ':4'],
    ],
    [
      ['plan', '--namespace', '=', 'proj', 'd'],
      ['database', ':4'],
    ],
    [
      ['plan', '-o', '='],
      ['text', 'json', 'yaml', ':4'],
    ],
    [['plan', ''], [':4']],
    [
      ['plan', '-n', 'pr'],
      ['proj', ':4'],
    ],
    [
      ['plan', '-o', ''],
      ['text', 'json', 'yaml', ':4'],
    ],
    [
      ['plan', '--del'],
      ['--delete', ':4'],
    ],
    [
      ['inst', 'inter'],
      ['interrupt', ':4'],
    ],
    [
      ['inst', 'trace', 'web', '-n', 'proj', ''],
      ['greeting', 'cluster', ':4'],
    ],
    [['inst', 'trace', 'nothing', '-n', 'proj', ''], [':4']],
    [
      ['jobs', 'diff', 'web', '-n', 'proj', '1', ''],
      ['1', '2', ':4'],
    ],
    [
      ['doctor', '--context', ''],
      ['espalier', ':4'],
    ],
    [
      ['schemas', 'inst'],
      ['installationtemplate', 'installation', ':4'],
    ],
    [['apply', ''], [':0']],
    [['apply', 'a.yaml', ''], [':0']],
    [['plan', '-n', 'proj', 'web', ''], [':4']],
    [['inst', 'trace', 'web', '-n', 'proj', 'greeting', ''], [':4']],
    [['unknown', 'x'], [':4']],
    [[], undefined],
  ] as const)
    it(`of "${line.join(' ')}" are ${words?.slice(0, -1).join(', ') ?? 'all commands'}`, async () => {
      const found = await answer(line);
      if (words) expect(found).to.deep.equal(words);
      else expect(found).to.include.members(['apply', 'plan', ':4']);
    });

  it('are none, without an error, if the cluster is not available', async () => {
    expect(await answer(['plan', ''], { KUBECONFIG: '/does/not/exist' })).to.deep.equal([':4']);
  });
});
