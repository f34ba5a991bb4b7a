/** A pod whose images cannot be pulled: which errors end the run, and what is shown meanwhile. */
import { expect } from 'chai';
import type { Pod } from '../../../../deployers/container/kinds.ts';
import { podStatusOf, pullCausesIn, runStateOf } from '../../../../deployers/container/pod-status.ts';
import { maskOf } from '../../../../src/lib/masking.ts';
import { waiting } from '../../../support/containers.ts';

describe('a run', () => {
  const pod = (status: object): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-1' },
    status,
  });
  const look = (status: object) => {
    const seen = pod(status);
    const shown = podStatusOf(seen, undefined, maskOf([]));
    return { stand: runStateOf(seen, shown), shown };
  };
  const pulling = (reason: string, message = '') =>
    look({ phase: 'Pending', containerStatuses: [waiting('main', reason, message)] }).stand;
  const resolve = 'failed to pull and unpack image "r.example/timeout:1": failed to resolve reference';
  const final: readonly (readonly [string, string])[] = [
    ['ErrImageNeverPull', 'Container image "tool:1" is not present with pull policy of Never'],
    ['ErrInvalidImageName', ''],
    ['InvalidImageName', 'couldn\'t parse image name "A/b": invalid reference format'],
    [
      'ErrImagePull',
      `rpc error: code = NotFound desc = ${resolve} "r.example/timeout:1": r.example/timeout:1: not found`,
    ],
    [
      'ErrImagePull',
      `${resolve} "x": unexpected status from HEAD request to https://r.example:5000/v2/x: 401 Unauthorized`,
    ],
    [
      'ErrImagePull',
      `${resolve} "x": pull access denied, repository does not exist or may require authorization`,
    ],
    ['ErrImagePull', 'reading manifest 1 in r.example/tool: manifest unknown'],
    ['ErrImagePull', 'initializing source: requested access to the resource is denied'],
    [
      'ImagePullBackOff',
      `Back-off pulling image "tool:1": ErrImagePull: ${resolve} "x": r.example/x:1: not found`,
    ],
  ];
  for (const [reason, message] of final) {
    it(`has failed if its image cannot be pulled: ${reason} ${message}`, () => {
      const stand = pulling(reason, message);
      expect(stand).to.include({ is: 'failed', isStuck: true });
      expect(stand).to.have.nested.property('problem.message').that.contains('image "main-image"');
    });
  }

  const temporary: readonly (readonly [string, string])[] = [
    ['ErrImagePull', ''],
    [
      'ErrImagePull',
      `${resolve} "x": failed to do request: Head "https://r.example/v2/not found": dial tcp 192.0.2.1:443: connect: connection refused`,
    ],
    ['ErrImagePull', 'dial tcp: lookup r.example: no such host'],
    [
      'ErrImagePull',
      'failed to authorize: failed to fetch anonymous token: Get "https://auth.example/token": net/http: TLS handshake timeout',
    ],
    [
      'ErrImagePull',
      'unexpected status from HEAD request to https://r.example/v2/x/manifests/1: 503 Service Unavailable',
    ],
    [
      'ErrImagePull',
      'unexpected status code 429 Too Many Requests: toomanyrequests: unauthorized users may pull less',
    ],
    ['ErrImagePull', 'failed to copy: httpReadSeeker: failed open: unexpected EOF'],
    ['ErrImagePull', 'something that no version of this program has ever seen'],
    ['ImagePullBackOff', 'Back-off pulling image "forbidden/not found"'],
    ['RegistryUnavailable', ''],
  ];
  for (const [reason, message] of temporary) {
    it(`waits for an image that may be pulled later: ${reason} ${message}`, () => {
      const stand = pulling(reason, message);
      expect(stand.is).to.equal('running');
      expect(stand).to.have.nested.property('why.reason', reason);
      expect(stand)
        .to.have.nested.property('why.message')
        .that.contains('image "main-image"')
        .and.contains(message);
    });
  }

  it('names the cause of an earlier attempt while the kubelet does not report it', () => {
    const backOff = pod({
      phase: 'Pending',
      containerStatuses: [waiting('main', 'ImagePullBackOff', 'Back-off pulling image "x"')],
    });
    const tried = look({
      phase: 'Pending',
      containerStatuses: [waiting('main', 'ErrImagePull', 'connection refused')],
    });
    const stand = runStateOf(backOff, podStatusOf(backOff, undefined, maskOf([])), pullCausesIn(tried.shown));
    expect(stand).to.have.nested.property(
      'why.message',
      'container main: image "main-image" cannot be pulled at the moment, the kubelet retries: ImagePullBackOff: connection refused',
    );
  });
});
