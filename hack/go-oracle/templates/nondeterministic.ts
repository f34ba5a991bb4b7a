/**
 * Functions whose results depend on randomness, the clock or a key: templates that compare the deterministic part
 * of their results. Every such function must be listed here.
 */
import { standardFunctions } from '../../../src/templating/gotemplate/template.ts';
import { words } from '../random-parts.ts';
import type { TemplateRequest } from '../oracle.ts';
import { VALUES } from './values.ts';

/** Functions that are not called with generated arguments. */
export const UNCERTAIN =
  /^(now|ago|rand|uuid|shuffle|encryptAES|decryptAES|derivePassword|htpasswd|bcrypt|gen|buildCustom|keys|values|set$|deepCopy|mustDeepCopy|date|htmlDate|call|fail)/;

const T = '(toDate "2006-01-02T15:04:05Z07:00" "2024-02-28T23:30:00+02:00")';
const PAIR = '(genCA "ca" 1)';

const TEMPLATES = words(
  [
    '{{ kindOf now }} {{ gt (now | unixEpoch | int64) 1600000000 }}',
    `{{ ago ${T} | kindOf }} {{ ago "x" }} {{ ago now }}`,
    '{{ randInt 5 6 }} {{ lt (randInt 0 3) 3 }} {{ kindOf (randInt 1 9) }} ~ {{ randInt 6 5 }} ~ {{ randInt 5 5 }}',
    '{{ randAlphaNum 7 | regexMatch "^[A-Za-z0-9]{7}$" }} {{ randAlpha 7 | regexMatch "^[A-Za-z]{7}$" }}',
    '{{ randNumeric 9 | regexMatch "^[0-9]{9}$" }} {{ randAscii 5 | len }} {{ randAlpha 0 | quote }} {{ randBytes 9 | len }} {{ randBytes 0 }}',
    '{{ uuidv4 | regexMatch "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" }}',
    '{{ shuffle "aaaa" }} {{ shuffle "abc" | len }} {{ shuffle "" }} ~ {{ shuffle 1 }}',
    '{{ encryptAES "key" "text" | decryptAES "key" }} {{ encryptAES "key" "" | b64dec | len }} ~ {{ decryptAES "key" "x" }} ~ {{ decryptAES "key" "" }}',
    '{{ derivePassword 1 "long" "password" "user" "example.com" }} {{ derivePassword 2 "pin" "p" "u" "s" }} {{ derivePassword 1 "maximum" "ä" "" "" }} {{ derivePassword 9 "nothing" "p" "u" "s" }} ~ {{ derivePassword -1 "basic" "p" "u" "s" }}',
    '{{ htpasswd "user" "secret" | trunc 12 }} {{ htpasswd "u" "p" | len }} {{ htpasswd "a:b" "p" }}',
    '{{ bcrypt "secret" | trunc 7 }} {{ bcrypt "" | len }}',
    '{{ genPrivateKey "rsa" | trunc 31 }} {{ genPrivateKey "ecdsa" | trunc 30 }} {{ genPrivateKey "ed25519" | trunc 27 }} {{ genPrivateKey "nothing" }}',
    `{{ $ca := ${PAIR} }}{{ kindOf $ca }} {{ typeOf $ca }} {{ $ca.Cert | trunc 27 }} {{ $ca.Key | trunc 31 }} ~ {{ genCA 1 1 }}`,
    '{{ $k := genPrivateKey "ecdsa" }}{{ $ca := genCAWithKey "ca" 1 $k }}{{ eq $ca.Key $k }} ~ {{ genCAWithKey "ca" 1 "no key" }}',
    '{{ $c := genSelfSignedCert "cn" (list "10.0.0.1") (list "a.example") 1 }}{{ $c.Cert | trunc 27 }} ~ {{ genSelfSignedCert "cn" (list "no address") (list) 1 }} ~ {{ genSelfSignedCert "cn" (list 1) (list) 1 }} ~ {{ genSelfSignedCert "cn" nil (list 2) 1 }}',
    '{{ $k := genPrivateKey "rsa" }}{{ $c := genSelfSignedCertWithKey "cn" (list) (list) 1 $k }}{{ eq $c.Key $k }} ~ {{ genSelfSignedCertWithKey "cn" nil nil 1 "" }}',
    `{{ $c := genSignedCert "cn" nil (list "a.example") 1 ${PAIR} }}{{ $c.Cert | trunc 27 }} ~ {{ genSignedCert "cn" nil nil 1 "ca" }}`,
    `{{ $k := genPrivateKey "ed25519" }}{{ $c := genSignedCertWithKey "cn" nil nil 1 ${PAIR} $k }}{{ eq $c.Key $k }}`,
    `{{ $ca := ${PAIR} }}{{ $c := buildCustomCert ($ca.Cert | b64enc) ($ca.Key | b64enc) }}{{ and (eq $c.Cert $ca.Cert) (eq $c.Key $ca.Key) }} ~ {{ buildCustomCert "x" "y" }} ~ {{ buildCustomCert ("x" | b64enc) ("y" | b64enc) }}`,
    '{{ keys .m (dict "z" 1) | sortAlpha }} {{ keys (dict) }} {{ keys | len }} ~ {{ keys "x" }} ~ {{ keys nil }}',
    '{{ values (dict "a" 1) }} {{ values .m | len }} {{ values (dict) }} ~ {{ values .l }}',
    '{{ $d := dict }}{{ $e := set $d "k" (list 1) }}{{ $d }} {{ $e }} ~ {{ set .m "a" nil }} ~ {{ set .l "a" 1 }} ~ {{ set .m 1 1 }}',
    '{{ $d := deepCopy .deep }}{{ $_ := set $d "x" 1 }}{{ $d }} {{ .deep }} {{ deepCopy .l }} {{ deepCopy "x" }} {{ deepCopy .m | kindOf }}',
    '{{ $d := mustDeepCopy .m }}{{ $_ := set $d "a" 9 }}{{ $d }}{{ .m }}',
    `{{ date "2006-01-02 15:04:05 MST" ${T} }} {{ date "Monday Jan _2 3:04PM 06 .000" ${T} }} {{ date "" ${T} }} {{ date "2006" 0 }} {{ date "15:04" (int64 3600) }}`,
    `{{ dateInZone "15:04 -0700 MST" ${T} "Europe/Berlin" }} {{ dateInZone "15:04 Z07:00" ${T} "UTC" }} {{ dateInZone "15:04" ${T} "No/Where" }} {{ dateInZone "2006" 86400 "UTC" }}`,
    `{{ date_in_zone "15:04 MST" ${T} "America/New_York" }}`,
    `{{ htmlDate ${T} }} {{ htmlDate 0 }} {{ htmlDateInZone ${T} "Asia/Tokyo" }} {{ htmlDateInZone 0 "x" }}`,
    `{{ dateModify "-1.5h" ${T} | date "2006-01-02T15:04" }} {{ dateModify "x" ${T} | date "15:04" }} {{ date_modify "24h1m" ${T} | htmlDate }} ~ {{ dateModify "1h" "x" }}`,
    '{{ call .name }} ~ {{ call nil }} ~ {{ call }} ~ {{ call .nope 1 }} ~ {{ call 3 }}',
    '{{ fail "boom" }} ~ {{ fail "" }} ~ a{{ if true }}{{ "x" | fail }}{{ end }} ~ {{ fail 1 }} ~ {{ fail }}',
  ].join(' ~ '),
);

/** @throws Error with the name of a function that has no comparison */
export function deterministicTemplates(): TemplateRequest[] {
  const uncompared = Object.keys(standardFunctions).filter(
    (name) => UNCERTAIN.test(name) && !TEMPLATES.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
  );
  if (uncompared.length > 0) throw new Error(`there is no comparison for ${uncompared.join(', ')}`);
  return TEMPLATES.map((template) => ({ template, values: VALUES }));
}
