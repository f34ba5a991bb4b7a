import { expect } from 'chai';
import { isInevitable, warningsIn } from '../../../../src/runtime/transport/warnings.ts';

describe('a Warning header', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['contains one warning', '299 - "unknown field \\"spec.x\\""', ['unknown field "spec.x"']],
    ['contains several', '299 - "a, b", 299 kube-apiserver "c"', ['a, b', 'c']],
    ['may end with a date', '299 - "a" "Wed, 25 Nov 2026 10:00:00 GMT"', ['a']],
    ['keeps backslashes that are escaped', '299 - "a\\\\b"', ['a\\b']],
    ['is a warning itself if it has another form', 'look out', ['look out']],
  ];
  for (const [title, header, texts] of rows)
    it(title, () => {
      expect(warningsIn(header)).to.deep.equal(texts);
    });

  it('is inevitable if it is about the finalizer that Landscaper has always used', () => {
    const about = (finalizer: string): string =>
      `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`;
    expect(isInevitable(about('finalizer.landscaper.gardener.cloud'))).to.equal(true);
    expect(isInevitable(about('other'))).to.equal(false);
    expect(isInevitable('unknown field "spec.x"')).to.equal(false);
  });
});
