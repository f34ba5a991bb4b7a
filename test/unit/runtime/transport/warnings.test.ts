import { expect } from 'chai';
import { isIgnoredWarning, warningsIn } from '../../../../src/runtime/transport/warnings.ts';

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

  it('has the middle of long texts cut, because servers choose them and they are remembered', () => {
    const long = 'x'.repeat(16_000);
    for (const header of [long, `299 - "${long}"`]) expect(warningsIn(header)[0]).to.have.length(500);
  });

  it('is inevitable if it is about the finalizer that Landscaper has always used', () => {
    const about = (finalizer: string): string =>
      `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`;
    expect(isIgnoredWarning(about('finalizer.landscaper.gardener.cloud'))).to.equal(true);
    expect(isIgnoredWarning(about('other'))).to.equal(false);
    expect(isIgnoredWarning('unknown field "spec.x"')).to.equal(false);
  });
});
