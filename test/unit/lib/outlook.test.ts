import { expect } from 'chai';
import { DownloadFailed, DownloadTooLarge } from '../../../deployers/helm/download.ts';
import { ChartNotPublished } from '../../../deployers/helm/repository-index.ts';
import { HookFailed, ReleaseError } from '../../../deployers/helm/release/cluster.ts';
import { ContentInvalid, RegistryRefused, RegistryUnavailable } from '../../../src/components/errors.ts';
import { outlookOf, type Outlook } from '../../../src/lib/outlook.ts';
import {
  apiErrorFrom,
  InvalidObjectName,
  NoSuchKind,
  ResponseTooLarge,
  TransportError,
} from '../../../src/runtime/errors.ts';
import { ChartTemplateFailed } from '../../../src/templating/helm/errors.ts';

const api = (status: number, causes: readonly object[] = []): Error =>
  apiErrorFrom(status, { details: { causes } }, { verb: 'create', kind: 'Pod' });
const behind = (cause: unknown): Error => new Error('it failed', { cause });
const coded = (code: string): Error => Object.assign(new Error('no'), { code });

describe('the outlook of an error', () => {
  const rows: readonly (readonly [string, unknown, Outlook])[] = [
    ['a body that the API server does not accept', api(422), 'final'],
    ['a request that it cannot read', api(400), 'final'],
    ['a body that is too large for it', api(413), 'final'],
    ['a denial, also for a quota', api(403), 'unknown'],
    [
      'a denial in a namespace that is being deleted',
      api(403, [{ reason: 'NamespaceTerminating' }]),
      'passing',
    ],
    ['credentials, which can be renewed', api(401), 'passing'],
    ['an object that does not exist', api(404), 'passing'],
    ['a definition that is being deleted', api(405), 'passing'],
    ['a conflict', api(409), 'passing'],
    ['too many requests', api(429), 'passing'],
    ['a server that failed', api(500), 'passing'],
    ['a kind that is not served', new NoSuchKind({ apiVersion: 'a/v1', kind: 'B' }), 'passing'],
    ['a name that is not valid', new InvalidObjectName({ message: 'no' }), 'final'],
    [
      'a response of a target that is too large',
      new ResponseTooLarge({ message: 'x', excess: 'bytes', isFinal: true }),
      'final',
    ],
    [
      'a response of the host that is too large',
      new ResponseTooLarge({ message: 'x', excess: 'bytes', isFinal: false }),
      'passing',
    ],
    [
      'a broken connection',
      new TransportError({ message: 'x', safeToRepeat: true, cause: coded('ECONNRESET') }),
      'passing',
    ],
    [
      'a certificate that is not trusted',
      new TransportError({ message: 'x', safeToRepeat: true, cause: coded('CERT_HAS_EXPIRED') }),
      'final',
    ],
    ['a registry that is unavailable', new RegistryUnavailable('x'), 'passing'],
    ['a registry that refuses', new RegistryRefused('x'), 'final'],
    ['content that is invalid', new ContentInvalid('x'), 'final'],
    ['a chart that is not published', new ChartNotPublished('x'), 'final'],
    ['a download that does not exist', new DownloadFailed('x', { statusCode: 404 }), 'final'],
    ['a download that is not permitted', new DownloadFailed('x', { statusCode: 403 }), 'final'],
    ['a download from a busy server', new DownloadFailed('x', { statusCode: 429 }), 'passing'],
    ['a download from a server that failed', new DownloadFailed('x', { statusCode: 503 }), 'passing'],
    ['a download that broke off', new DownloadFailed('x', { cause: coded('ECONNRESET') }), 'passing'],
    [
      'a download from a server without a trusted certificate',
      new DownloadFailed('x', { cause: coded('CERT_HAS_EXPIRED') }),
      'final',
    ],
    ['a download that is too large', new DownloadTooLarge('x'), 'final'],
    ['a template that fails', new ChartTemplateFailed('x'), 'final'],
    ['a release, by its cause', new ReleaseError('x', { cause: api(422) }), 'final'],
    ['a release without a cause', new ReleaseError('x'), 'passing'],
    ['a hook that fails', new ReleaseError('x', { cause: new HookFailed('y') }), 'unknown'],
    ['an error behind others', behind(behind(api(403))), 'unknown'],
    [
      'several errors, one of them final',
      behind(new AggregateError([api(403), api(422), api(500)])),
      'final',
    ],
    ['several errors, one of them unknown', new AggregateError([api(404), api(403)]), 'unknown'],
    ['several errors that pass', new AggregateError([api(404), api(500)]), 'passing'],
    ['an error of a plugin', new Error('x'), 'passing'],
    ['something that is not an error', 'x', 'passing'],
  ];
  for (const [title, error, expected] of rows)
    it(`${title}: ${expected}`, () => {
      expect(outlookOf(error)).to.equal(expected);
    });

  it('ends with a chain that is endless', () => {
    const error = new Error('x');
    error.cause = error;
    expect(outlookOf(error)).to.equal('passing');
  });
});
