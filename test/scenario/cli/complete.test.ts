/** `espalier __complete`, which shells and kubectl run for the possible last words of a line. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
import { FakeClock } from '../../support/clock.ts';
import { kubeconfigOf } from '../../support/hostile-server.ts';
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
    const log = silentLogger;
    server = await startEmbedded({ simulate: false, controllers: ['none'], log, namespace: 'empty' });
    const kubeconfig = { text: server.kubeconfig };
    const client = createClient(await connect({ kubeconfig, userAgent: 'test', clock: systemClock, log }));
    await ensureCrds(client, systemClock, log, { hasJournal: true });
    await applyAll(client, [namespaceObject('proj'), ...objects.map(inProject)]);
    for (const number of [1, 2])
      await client.send<Obj>({ verb: 'create', kind: jobRecordKind, object: inProject(job(number)) });
    await client.close();
  });
  after(() => server.close());

  async function answer(words: readonly string[], env = { KUBECONFIG: server.kubeconfigFile }) {
    // Its time stands still, so that it does not give up on a busy machine.
    const terminal = fakeTerminal({ env, clock: new FakeClock() });
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

  it('are none if the cluster has not answered after two seconds', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const clock = new FakeClock();
    const { port } = silent.address() as AddressInfo;
    const file = join(mkdtempSync(join(tmpdir(), 'espalier-complete-')), 'kubeconfig');
    writeFileSync(file, kubeconfigOf(`http://127.0.0.1:${String(port)}`));
    const terminal = fakeTerminal({ env: { KUBECONFIG: file }, clock });
    try {
      const asked = once(silent, 'connection') as Promise<[Socket]>;
      const completed = runProgram(['__complete', 'plan', ''], terminal);
      const [socket] = await asked;
      await once(socket, 'data');
      await clock.advance(1_999);
      expect(terminal.output).to.equal('');
      await clock.advance(1);
      expect([await completed, terminal.output, terminal.errors]).to.deep.equal([0, ':4\n', '']);
    } finally {
      silent.close();
      rmSync(dirname(file), { recursive: true });
    }
  });
});
