/** Admission webhooks: scenarios API-177 to API-180. */
import { createPrivateKey } from 'node:crypto';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createAuthority, issueCertificate } from '../../../src/lib/certificates.ts';
import { refused, warningsOf } from './assertions.ts';
import { cm } from './fixtures.ts';
import { useSubject } from './subject.ts';
import type { Json, Reply } from './subject.ts';
import { eventually } from '../../support/waiting.ts';

const HOOKS = '/apis/admissionregistration.k8s.io/v1';

describe('admission webhooks', function () {
  this.timeout(60_000);
  const s = useSubject();
  let server: Server;
  let url: string;
  let caBundle: string;
  let reviews: Json[];
  /** A response, the code of a rejection, or a raw body. */
  let answer: (request: Json) => unknown;
  let ns: string;
  let cms: string;

  before(async () => {
    const authority = createAuthority('webhook-ca');
    const leaf = issueCertificate(authority, createPrivateKey(authority.key), {
      commonName: 'webhook',
      usage: 'server',
      hosts: ['127.0.0.1'],
    });
    caBundle = Buffer.from(authority.certificate).toString('base64');
    server = createServer({ key: leaf.key, cert: leaf.certificate }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString());
        reviews.push(review.request);
        const given = answer(review.request);
        if (typeof given === 'number') response.writeHead(given).end('no');
        else if (typeof given === 'string') response.end(given);
        else
          response.end(
            JSON.stringify({
              kind: 'AdmissionReview',
              apiVersion: 'admission.k8s.io/v1',
              response: { uid: review.request.uid, ...(given as object) },
            }),
          );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(async () => {
    reviews = [];
    answer = () => ({ allowed: true });
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });
  afterEach(async () => {
    for (const kind of ['validating', 'mutating'])
      await s.delete(`${HOOKS}/${kind}webhookconfigurations/conformance`);
  });

  /** Configures a webhook for our namespace and waits until it is called. */
  async function install(kind: 'validating' | 'mutating', hook: Json = {}): Promise<void> {
    const made = await s.post(`${HOOKS}/${kind}webhookconfigurations`, {
      metadata: { name: 'conformance' },
      webhooks: [
        {
          name: 't.example.com',
          clientConfig: { url, caBundle },
          rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 2,
          ...hook,
        },
      ],
    });
    expect(made.code, made.text).to.equal(201);
    if (!s.isGenuine || hook.clientConfig || hook.objectSelector) return;
    const before = answer;
    answer = () => ({ allowed: true });
    await eventually('the server calls the webhook', async () => {
      await s.post(`${cms}?dryRun=All`, cm('probe'));
      return reviews.length > 0;
    });
    reviews = [];
    answer = before;
  }

  const create = (name = 'a', more: Json = {}): Promise<Reply> => s.post(cms, cm(name, more));

  it('API-177: reviews describe the request', async () => {
    await install('validating');
    await create();
    await s.merge(`${cms}/a`, { data: { a: '2' } });
    await s.post(`${cms}?dryRun=All`, cm('dry'));
    await s.delete(`${cms}/a`);
    const [made, patched, dry, gone] = reviews;
    expect(made).to.deep.include({
      operation: 'CREATE',
      name: 'a',
      namespace: ns,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      oldObject: null,
      dryRun: false,
    });
    expect(made.object.metadata.uid).to.be.a('string');
    expect(made.object.metadata.managedFields).to.have.length(1);
    expect(made.object.metadata).to.not.have.property('resourceVersion');
    expect(made.options.kind).to.equal('CreateOptions');
    expect(made.userInfo.username).to.be.a('string');
    expect(patched.operation).to.equal('UPDATE');
    expect(patched.oldObject.data).to.deep.equal({ a: '1' });
    expect(patched.object.data).to.deep.equal({ a: '2' });
    expect(dry.dryRun).to.equal(true);
    expect(gone).to.deep.include({ operation: 'DELETE', object: null });
    expect(gone.oldObject.metadata.name).to.equal('a');
  });

  it('API-177: a collection is reviewed object by object, without names', async () => {
    await create('a');
    await create('b');
    await install('validating');
    await s.delete(`${cms}?labelSelector=!none`);
    expect(reviews.length).to.be.at.least(2);
    expect(reviews.every((r) => r.operation === 'DELETE' && r.name === undefined)).to.equal(true);
  });

  const denials: readonly (readonly [string, Json, number, string | undefined, string])[] = [
    [
      'nothing more',
      { allowed: false },
      400,
      undefined,
      'admission webhook "t.example.com" denied the request without explanation',
    ],
    [
      'a message',
      { allowed: false, status: { message: 'no way' } },
      400,
      undefined,
      'admission webhook "t.example.com" denied the request: no way',
    ],
    [
      'code and reason',
      { allowed: false, status: { code: 418, reason: 'Teapot', message: 'short' } },
      418,
      'Teapot',
      'admission webhook "t.example.com" denied the request: short',
    ],
  ];
  for (const [what, response, code, reason, message] of denials)
    it(`API-178: a denial with ${what}`, async () => {
      answer = () => response;
      await install('validating');
      const reply = await create();
      refused(reply, code, message);
      expect(reply.body.reason).to.equal(reason);
    });

  it('API-178: warnings are returned to the client', async () => {
    answer = () => ({ allowed: true, warnings: ['mind the gap'] });
    await install('validating');
    expect(warningsOf(await create())).to.deep.equal(['mind the gap']);
  });

  const failures: readonly (readonly [string, (request: Json) => unknown])[] = [
    ['an HTTP error', () => 500],
    ['another uid', () => ({ uid: 'other', allowed: true })],
    ['invalid JSON', () => 'nonsense'],
  ];
  for (const [what, given] of failures) {
    it(`API-178: ${what} fails the write`, async () => {
      answer = given;
      await install('validating', { failurePolicy: 'Fail' });
      const reply = await create();
      refused(reply, 500, /^Internal error occurred: failed calling webhook "t.example.com": /);
      expect(reply.body.reason).to.equal('InternalError');
    });
    it(`API-178: ${what} may be ignored`, async () => {
      answer = given;
      await install('validating', { failurePolicy: 'Ignore' });
      expect((await create()).code).to.equal(201);
    });
  }

  const patchOf = (operations: Json[]): Json => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  });

  it('API-179: a patch is applied, and its fields have no manager', async () => {
    answer = () => patchOf([{ op: 'add', path: '/data/b', value: 'hooked' }]);
    await install('mutating');
    const made = (await create()).body;
    expect(made.data).to.deep.equal({ a: '1', b: 'hooked' });
    expect(JSON.stringify(made.metadata.managedFields)).to.not.match(/f:b/);
  });

  it('API-179: patches that cannot be applied fail the write', async () => {
    answer = () => patchOf([{ op: 'remove', path: '/nope' }]);
    await install('mutating');
    expect((await create()).code).to.equal(500);
  });

  it('API-179: a validating webhook must not patch', async () => {
    answer = () => patchOf([{ op: 'add', path: '/data/b', value: 'hooked' }]);
    await install('validating');
    refused(await create(), 500, /response.patch/);
  });

  it('API-180: a selector limits the objects that are reviewed', async () => {
    await install('validating', { objectSelector: { matchLabels: { check: 'yes' } } });
    await create('a');
    await eventually('the server calls the webhook', async () => {
      await s.post(`${cms}?dryRun=All`, cm('b', { metadata: { labels: { check: 'yes' } } }));
      return reviews.length > 0;
    });
    expect(reviews.map((r) => r.name)).to.deep.equal(['b']);
    await create('c');
    expect(reviews).to.have.length(1);
  });

  it('API-180: a service that does not exist fails the write', async () => {
    await install('validating', { clientConfig: { service: { namespace: ns, name: 'x' }, caBundle } });
    const reply = await eventually('the server calls the service', async () => {
      const answer = await s.post(`${cms}?dryRun=All`, cm('a'));
      return answer.code !== 201 && answer;
    });
    refused(reply, 500, /service "x" not found/);
  });
});
