import { expect } from 'chai';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
} from '../../../src/lib/names.ts';

const a = (count: number): string => 'a'.repeat(count);

describe('names of objects and labels', () => {
  const rows: readonly (readonly [
    check: (text: string) => readonly string[],
    text: string,
    ...messages: readonly RegExp[],
  ])[] = [
    [isDns1123Subdomain, 'a-1.b-2'],
    [isDns1123Subdomain, a(253)],
    [isDns1123Subdomain, a(254), /^must be no more than 253 characters$/],
    [isDns1123Subdomain, '', /^a lowercase RFC 1123 subdomain must .*'example.com'/],
    [isDns1123Subdomain, 'a..b', /^a lowercase RFC 1123 subdomain must/],
    [isDns1123Subdomain, `A${a(253)}`, /no more than 253/, /^a lowercase RFC 1123 subdomain must/],
    [isDns1123Label, '1-a'],
    [isDns1123Label, a(63)],
    [isDns1123Label, a(64), /^must be no more than 63 characters$/],
    [isDns1123Label, 'a.b', /^must not contain dots$/],
    [isDns1123Label, `${a(63)}.b`, /no more than 63/, /^must not contain dots$/],
    [isDns1123Label, 'a_b', /^a lowercase RFC 1123 label must .*'my-name', {2}or '123-abc'/],
    [isDns1035Label, 'a-1'],
    [isDns1035Label, a(63)],
    [isDns1035Label, a(64), /^must be no more than 63 characters$/],
    [isDns1035Label, '1-a', /^a DNS-1035 label must/],
    [isQualifiedName, 'My_Name.1'],
    [isQualifiedName, 'example.com/a'],
    [isQualifiedName, a(63)],
    [isQualifiedName, a(64), /^name part must be no more than 63 characters$/],
    [isQualifiedName, '-a', /^name part must consist of/],
    [isQualifiedName, 'example.com/', /^name part must be non-empty$/, /^name part must consist of/],
    [isQualifiedName, '/a', /^prefix part must be non-empty$/],
    [isQualifiedName, 'A/b', /^prefix part a lowercase RFC 1123 subdomain must/],
    [isQualifiedName, 'a/b/c', /^a qualified name must .* with an optional DNS subdomain prefix/],
    [isLabelValue, ''],
    [isLabelValue, a(63)],
    [isLabelValue, a(64), /^must be no more than 63 characters$/],
    [isLabelValue, 'a-', /^a valid label must/],
    [isPathSegment, 'system:a.b'],
    [isPathSegment, '.', /^may not be '\.'$/],
    [isPathSegment, '..', /^may not be '\.\.'$/],
    [isPathSegment, 'a%/', /^may not contain '\/'$/, /^may not contain '%'$/],
  ];
  for (const [check, text, ...messages] of rows) {
    const shown = text.length > 20 ? `${text.slice(0, 3)}… (${String(text.length)})` : text;
    const verdict = messages.length === 0 ? 'accepts' : 'refuses';
    it(`${check.name} ${verdict} "${shown}"${messages.length > 1 ? ' for two reasons' : ''}`, () => {
      const found = check(text);
      expect(found).to.have.length(messages.length);
      messages.forEach((message, i) => expect(found[i]).to.match(message));
    });
  }
});
