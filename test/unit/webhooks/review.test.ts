import { expect } from 'chai';
import { hostsOf } from '../../../src/runtime/webhooks/endpoint.ts';
import { webhookConfiguration } from '../../../src/webhooks/configuration.ts';
import { InvalidReview, review, reviewLargeItems } from '../../../src/webhooks/review.ts';
import { target } from '../../support/broken.ts';
import { writeDeployItems, type DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import { TYPE_IS_IMMUTABLE } from '../../../src/api/kinds/deployitem.ts';
import { defaultLimits } from '../../../src/api/limits.ts';
import { fakeItem, lonelyItem, plan } from '../../support/landscape.ts';

const ask = (request: object) => ({
  kind: 'AdmissionReview',
  request: { uid: 'u1', operation: 'CREATE', ...request },
});
const both = target('both', { config: 1, secretRef: { name: 's' } });

describe('a response to an API server', () => {
  it('allows a valid object, and repeats the uid of the request', () => {
    const { answer } = review('targets', ask({ object: target('t', {}) }));
    expect(answer).to.deep.equal({ uid: 'u1', allowed: true });
  });

  it('denies an invalid object', () => {
    const { answer, object } = review('targets', ask({ object: both, namespace: 'demo', name: 'both' }));
    expect(answer).to.deep.equal({
      uid: 'u1',
      allowed: false,
      status: {
        code: 403,
        reason: 'Forbidden',
        message: 'spec: Invalid value: either config or secretRef may be set, not both',
      },
    });
    expect(object).to.equal('demo/both');
  });

  it('counts by the limits of the configuration', () => {
    const question = ask({ object: plan([fakeItem('a'), fakeItem('b')]) });
    expect(review('executions', question).answer.allowed).to.equal(true);
    expect(review('executions', question, { ...defaultLimits, deployItems: 2 }).answer.allowed).to.equal(
      true,
    );
    const { status } = review('executions', question, { ...defaultLimits, deployItems: 1 }).answer;
    expect(status?.message).to.contain('the limit is 1 ').and.contain('limits.deployItems');
  });

  describe('about compressed deploy items', () => {
    const packed = (padding: number, more: object = {}) => {
      const item = { ...fakeItem('a'), notes: 'x'.repeat(padding) } as unknown as DeployItemTemplate;
      const spec = { ...writeDeployItems([item]), ...more };
      return ask({ namespace: 'demo', object: { ...plan([]), spec } });
    };
    const refused = { kind: 'wrong', message: 'no' } as const;
    const judged = async (question: object) => {
      const asked: string[] = [];
      const { answer } = await reviewLargeItems('executions', question, undefined, (namespace) => {
        asked.push(namespace);
        return Promise.resolve(refused);
      });
      return { asked, status: answer.status };
    };

    it('that take long to read is computed in another process', async () => {
      expect(await judged(packed(300 << 10))).to.deep.equal({
        asked: ['demo'],
        status: { code: 403, reason: 'Forbidden', message: 'no' },
      });
    });

    it('that are small, unreadable or in an object with other mistakes is computed at once', async () => {
      expect(await judged(packed(10))).to.deep.equal({ asked: [], status: undefined });
      const { asked, status } = await judged(packed(300 << 10, { context: '../x' }));
      expect(asked).to.deep.equal([]);
      expect(status?.code).to.equal(400);
      const damaged = await judged(packed(10, { deployItemsCompressed: 'AAAA' }));
      expect(damaged.asked).to.deep.equal([]);
      expect(damaged.status?.message).to.contain('cannot be read');
    });
  });

  it('rejects an unreadable request as a bad request', () => {
    const { status } = review('deployitems', ask({ object: lonelyItem({ timeout: 'soon' }) })).answer;
    expect(status?.code).to.equal(400);
    expect(review('targets', ask({ object: null })).answer.status?.code).to.equal(400);
  });

  it('denies a change of the type of a deploy item', () => {
    const change = { operation: 'UPDATE', object: lonelyItem({ type: 'b' }), oldObject: lonelyItem() };
    const { status } = review('deployitems', ask(change)).answer;
    expect(status).to.deep.equal({ code: 403, message: `.spec.type: Forbidden: ${TYPE_IS_IMMUTABLE}` });
  });

  it('allows the deletion of an object', () => {
    const going = { ...both, metadata: { name: 'both', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(
      review('targets', ask({ operation: 'UPDATE', object: going, oldObject: both })).answer.allowed,
    ).to.equal(true);
  });

  for (const body of [undefined, null, 'text', {}, { request: {} }, { request: { uid: 1 } }]) {
    it(`is not sent for ${JSON.stringify(body)}`, () => {
      expect(() => review('targets', body)).to.throw(InvalidReview);
    });
  }
});

describe('the webhook configuration', () => {
  const clientConfigOf = (endpoint: Parameters<typeof hostsOf>[0]) =>
    (webhookConfiguration(endpoint, ['targets'], 'PEM').webhooks?.[0] as { clientConfig: object })
      .clientConfig;

  it('names a Service', () => {
    const endpoint = { service: { namespace: 'ls', name: 'hooks', port: 443 } };
    expect(clientConfigOf(endpoint)).to.deep.equal({
      caBundle: 'UEVN',
      service: { namespace: 'ls', name: 'hooks', port: 443, path: '/webhook/validate/targets' },
    });
    expect(hostsOf(endpoint)).to.deep.equal(['hooks', 'hooks.ls', 'hooks.ls.svc']);
  });

  const urls: readonly (readonly [string, string, string])[] = [
    ['https://hooks.example.org', 'https://hooks.example.org/webhook/validate/targets', 'hooks.example.org'],
    ['https://10.0.0.5:9443/ls/', 'https://10.0.0.5:9443/ls/webhook/validate/targets', '10.0.0.5'],
    ['https://[fd00::1]:9443', 'https://[fd00::1]:9443/webhook/validate/targets', 'fd00::1'],
  ];
  for (const [given, url, host] of urls) {
    it(`names ${given}`, () => {
      const endpoint = { url: new URL(given) };
      expect(clientConfigOf(endpoint)).to.deep.equal({ caBundle: 'UEVN', url });
      expect(hostsOf(endpoint)).to.deep.equal([host]);
    });
  }
});
