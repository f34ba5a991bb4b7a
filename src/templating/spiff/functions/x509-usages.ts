/** Key usages of certificates: converts names in both directions. */

/** The names in results, in the order of the bits; names in arguments may be shorter and in any case. */
const KEY_USAGES: readonly (readonly [shown: string, asked: string])[] = [
  ['Signature', 'signature'],
  ['ContentCommitment', 'commitment'],
  ['KeyEncipherment', 'keyencipherment'],
  ['DataEncipherment', 'dataencipherment'],
  ['KeyAgreement', 'keyagreement'],
  ['CertSign', 'certsign'],
  ['CRLSign', 'crlsign'],
  ['EncipherOnly', 'encipheronly'],
  ['DecipherOnly', 'decipheronly'],
];

export const CERT_SIGN = 1 << 5;

const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['Any', '2.5.29.37.0'],
  ['ServerAuth', '1.3.6.1.5.5.7.3.1'],
  ['ClientAuth', '1.3.6.1.5.5.7.3.2'],
  ['CodeSigning', '1.3.6.1.5.5.7.3.3'],
  ['EmailProtection', '1.3.6.1.5.5.7.3.4'],
  ['IPSECEndSystem', '1.3.6.1.5.5.7.3.5'],
  ['IPSECTunnel', '1.3.6.1.5.5.7.3.6'],
  ['IPSECUser', '1.3.6.1.5.5.7.3.7'],
  ['TimeStamping', '1.3.6.1.5.5.7.3.8'],
  ['OCSPSigning', '1.3.6.1.5.5.7.3.9'],
  ['MicrosoftServerGatedCrypto', '1.3.6.1.4.1.311.10.3.3'],
  ['NetscapeServerGatedCrypto', '2.16.840.1.113730.4.1'],
  ['MicrosoftCommercialCodeSigning', '1.3.6.1.4.1.311.2.1.22'],
  ['MicrosoftKernelCodeSigning', '1.3.6.1.4.1.311.61.1.1'],
]);

export interface Usages {
  /** One bit each. */
  readonly key: number;
  /** Object identifiers. */
  readonly extended: readonly string[];
}

/** @returns the first unknown name, if there is one */
export function usagesOf(names: readonly string[]): Usages | { readonly unknown: string } {
  let key = 0;
  const extended = new Set<string>();
  for (const name of names) {
    const wanted = name.toLowerCase();
    const bit = KEY_USAGES.findIndex(([, asked]) => asked === wanted);
    const id = [...EXTENDED_USAGES].find(([shown]) => shown.toLowerCase() === wanted)?.[1];
    if (bit >= 0) key |= 1 << bit;
    else if (id !== undefined) extended.add(id);
    else return { unknown: name };
  }
  return { key, extended: [...extended] };
}

/** @param extended object identifiers */
export const usageNames = (key: number, extended: readonly string[]): string[] => [
  ...KEY_USAGES.filter((_names, bit) => (key & (1 << bit)) !== 0).map(([shown]) => shown),
  ...extended.flatMap((id) => [...EXTENDED_USAGES].filter(([, known]) => known === id).map(([name]) => name)),
];
