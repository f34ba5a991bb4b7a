/** Encodings of YAML files. */
import { expect } from 'chai';
import { textOfYaml } from '../../../src/lib/yaml-bytes.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';

const TEXT = 'a: ä€\nb: 🌍\n';
const utf16le = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
const utf16be = Buffer.from(utf16le).swap16();

describe('the bytes of a YAML file', () => {
  const rows: readonly (readonly [title: string, bytes: Uint8Array])[] = [
    ['are UTF-8', Buffer.from(TEXT)],
    ['are UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`)],
    ['are UTF-16, little end first', utf16le],
    ['are UTF-16, big end first', utf16be],
    ['have an odd byte at the end', Buffer.concat([utf16be, Buffer.of(0)])],
    ['are a part of other bytes', Buffer.concat([Buffer.from('x'), utf16be]).subarray(1)],
  ];
  for (const [title, bytes] of rows)
    it(title, () => {
      const before = Buffer.from(bytes);
      expect(parseYaml(textOfYaml(bytes))).to.deep.equal({ a: 'ä€', b: '🌍' });
      expect(before.equals(bytes)).to.equal(true);
    });

  it('may be missing, or only a mark', () => {
    for (const bytes of [[], [0xff], [0xfe], [0xff, 0xfe], [0xfe, 0xff]])
      expect(textOfYaml(Uint8Array.from(bytes)).length).to.be.at.most(1);
  });
});
