import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';

const LABELS = 'app.kubernetes.io/name=espalier,app.kubernetes.io/component in (controllers,deployers)';
const PODS = '/api/v1/namespaces/ls-system/pods';

const entry = (second: number, fields: object): string =>
  JSON.stringify({
    level: 'info',
    time: `2026-11-26T13:00:0${String(second)}.000Z`,
    controller: 'execution',
    'resource.kind': 'Execution',
    'resource.namespace': 'shop',
    'resource.name': 'db',
    tree: 'shop/web',
    ...fields,
  });

const stamped = (second: number, line: string): string =>
  `2026-11-26T13:00:0${String(second)}.000000001Z ${line}\n`;

/** Answers requests for pods and their logs; the functions replace answers. */
class PodServer {
  readonly requests: URL[] = [];
  pods: readonly string[] = ['espalier-a', 'espalier-b'];
  logs: Readonly<Record<string, string>> = {};
  /** Lines that are sent to clients that follow. */
  followed: Readonly<Record<string, string>> = {};
  forbidden: 'pods' | 'log' | undefined;
  notStarted: string | undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      this.requests.push(url);
      this.#answer(url, response);
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  #answer({ pathname, searchParams }: URL, response: ServerResponse): void {
    if (pathname === PODS) {
      if (this.forbidden === 'pods') refuse(response, 403, 'Forbidden', 'pods is forbidden');
      else send(response, { kind: 'PodList', metadata: {}, items: this.pods.map(podNamed) });
      return;
    }
    const pod = pathname.slice(PODS.length + 1).replace(/\/log$/, '');
    if (this.forbidden === 'log') refuse(response, 403, 'Forbidden', 'pods/log is forbidden');
    else if (this.notStarted === pod) refuse(response, 400, 'BadRequest', 'container is waiting to start');
    else {
      response.setHeader('content-type', 'text/plain');
      const log = this.logs[pod] ?? '';
      response.end(searchParams.has('follow') ? log + (this.followed[pod] ?? '') : log);
    }
  }
}

const podNamed = (name: string): object => ({
  metadata: { name, namespace: 'ls-system' },
  spec: { containers: [{ name: 'espalier' }, { name: 'sidecar' }] },
});

function send(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const refuse = (response: ServerResponse, code: number, reason: string, message: string): void => {
  send(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, code);
};

describe('espalier logs', () => {
  let server: PodServer;
  let folder: string;

  beforeEach(async () => {
    server = new PodServer();
    folder = mkdtempSync(join(tmpdir(), 'logs-'));
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }],
      clusters: [{ name: 'test', cluster: { server: await server.start() } }],
      users: [{ name: 'test', user: {} }],
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  async function logs(...args: string[]): Promise<FakeTerminal & { readonly code: number }> {
    const terminal = fakeTerminal({ env: { KUBECONFIG: join(folder, 'kubeconfig') } });
    const code = await runProgram(['logs', ...args], terminal);
    return Object.assign(terminal, { code });
  }

  const logRequests = () => server.requests.filter(({ pathname }) => pathname.endsWith('/log'));

  it('merges the lines of all pods by time, and shows those of one landscape', async () => {
    server.logs = {
      'espalier-a':
        stamped(1, entry(1, { msg: 'one' })) +
        stamped(2, entry(2, { msg: 'other', tree: 'shop/api' })) +
        stamped(4, entry(4, { msg: 'four', level: 'warn', err: 'no' })),
      'espalier-b': stamped(3, entry(3, { msg: 'three' })) + stamped(5, 'not JSON'),
    };
    const { code, output, errors } = await logs('web');
    expect(output).to.equal(
      [
        '2026-11-26 13:00:01.000 info  Execution shop/db  one',
        '2026-11-26 13:00:03.000 info  Execution shop/db  three',
        '2026-11-26 13:00:04.000 warn  Execution shop/db  four  err=no',
        '',
      ].join('\n'),
    );
    expect([code, errors]).to.deep.equal([0, '']);
    const [list] = server.requests;
    expect(list?.searchParams.get('labelSelector')).to.equal(LABELS);
    expect(logRequests().map(({ searchParams }) => searchParams.get('container'))).to.deep.equal([
      'espalier',
      'espalier',
    ]);
  });

  it('requests only the period that is wanted', async () => {
    await logs('web', '--since', '1m30s');
    expect(logRequests()[0]?.searchParams.get('sinceSeconds')).to.equal('90');
  });

  it('limits the lines to a level and a job, and prints them unchanged as JSON', async () => {
    const wanted = entry(3, { msg: 'three', level: 'warn', jobID: 'abcd-1' });
    server.logs = {
      'espalier-a':
        stamped(1, entry(1, { msg: 'one', jobID: 'abcd-1' })) +
        stamped(2, entry(2, { msg: 'two', level: 'error', jobID: 'efgh-1' })) +
        stamped(3, wanted),
    };
    const { output } = await logs('web', '--level', 'warn', '--job', 'abcd', '-o', 'json');
    expect(output).to.equal(`${wanted}\n`);
  });

  it('shows lines once when it follows, until the pods end', async () => {
    server.pods = ['espalier-a'];
    server.logs = { 'espalier-a': `${stamped(1, entry(1, { msg: 'one' }))}a line without a time\n` };
    server.followed = { 'espalier-a': stamped(2, entry(2, { msg: 'two' })) };
    const { code, output, errors } = await logs('web', '-f');
    expect(output.match(/one|two/g)).to.deep.equal(['one', 'two']);
    expect(logRequests()[1]?.searchParams.get('sinceTime')).to.equal('2026-11-26T13:00:01Z');
    expect([code, errors]).to.deep.equal([0, 'the log of pod ls-system/espalier-a has ended\n']);
  });

  it('reads the other pods if one has not started', async () => {
    server.notStarted = 'espalier-a';
    server.logs = { 'espalier-b': stamped(3, entry(3, { msg: 'three' })) };
    const { code, output, errors } = await logs('web');
    expect(output).to.contain('three');
    expect(errors).to.contain('ls-system/espalier-a').and.contain('container is waiting to start');
    expect(code).to.equal(1);
  });

  it('names the namespace and the option if there are no pods', async () => {
    server.pods = [];
    const { code, errors } = await logs('web');
    expect(errors).to.contain(`there are no pods with the labels ${LABELS} in namespace ls-system`);
    expect(errors).to.contain('--system-namespace').and.contain('--file');
    expect(code).to.equal(1);
  });

  for (const [forbidden, action] of [
    ['pods', 'list pods'],
    ['log', 'read logs of pods'],
  ] as const)
    it(`names the missing permission to ${action}`, async () => {
      server.forbidden = forbidden;
      const { code, errors } = await logs('web');
      expect(errors).to.contain(`error: you may not ${action} in namespace ls-system`);
      expect(errors).to.contain('the verb get on pods/log');
      expect(code).to.equal(1);
    });

  it('reads a file without a connection, of any namespace unless one is given', async () => {
    const file = join(folder, 'dev.log');
    writeFileSync(
      file,
      ['Espalier serves', entry(1, { msg: 'one' }), entry(2, { msg: 'two', tree: 'test/web' })].join('\n'),
    );
    const any = await logs('web', '--file', file);
    expect(any.output).to.equal(
      '2026-11-26 13:00:01.000 info  Execution shop/db  one  tree=shop/web\n' +
        '2026-11-26 13:00:02.000 info  Execution shop/db  two  tree=test/web\n',
    );
    const one = await logs('web', '-n', 'test', '--file', file);
    expect(one.output).to.equal('2026-11-26 13:00:02.000 info  Execution shop/db  two\n');
    expect(server.requests).to.deep.equal([]);
    const none = await logs('api', '--file', file);
    expect(none.errors).to.equal(`no matching lines of the tree api among 2 in ${file}\n`);
  });

  const mistakes: readonly (readonly [string, readonly string[], string])[] = [
    ['a missing file', ['--file', '/nowhere.log'], 'there is no file /nowhere.log'],
    ['an invalid period', ['--since', '10'], '--since: "10" is not a duration; use a value like 10m or 2h'],
    ['following a file', ['--file', 'a', '-f'], '--follow is for pods'],
    ['an unknown level', ['--level', 'all'], 'choose trace, debug, info, warn, error'],
  ];
  for (const [title, args, message] of mistakes)
    it(`refuses ${title}`, async () => {
      const { code, errors } = await logs('web', ...args);
      expect(errors).to.contain(message);
      expect(code).to.equal(2);
    });
});
