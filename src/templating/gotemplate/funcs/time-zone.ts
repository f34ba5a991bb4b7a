/** Time zones: offsets and abbreviations, from the data of the runtime. */

export const pad = (n: number, width: number, fill = '0'): string =>
  n < 0 ? `-${String(-n).padStart(width, fill)}` : String(n).padStart(width, fill);

export function offsetText(offset: number, separator: string, isShort: boolean): string {
  const size = Math.abs(offset);
  const minutes = pad(Math.floor((size % 3600) / 60), 2);
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(size / 3600), 2)}${isShort ? '' : separator + minutes}`;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Seconds east of Greenwich at that moment; undefined for an unknown zone. */
export function zoneOffset(zone: string, ms: number): number | undefined {
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
  if (zone === 'UTC') return 0;
  try {
    let formatter = formatters.get(zone);
    if (!formatter) {
      formatter = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
      formatters.set(zone, formatter);
    }
    const name = formatter.formatToParts(ms).find((p) => p.type === 'timeZoneName')?.value ?? 'GMT';
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name);
    if (!match) return 0;
    const size = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return match[1] === '-' ? -size : size;
  } catch {
    return undefined;
  }
}

const EUROPE: Readonly<Record<number, readonly [string, string]>> = {
  0: ['WET', 'GMT'],
  3600: ['CET', 'WEST'],
  7200: ['EET', 'CEST'],
  10800: ['MSK', 'EEST'],
};

/** The abbreviation of a zone; a number if the runtime has none, as in Go's zone data. */
export function abbreviation(zone: string, ms: number, offset: number): string {
  if (zone === 'UTC') return 'UTC';
  if (/^[+-]\d/.test(zone)) return offset === 0 ? 'UTC' : '';
  const name =
    new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'short' })
      .formatToParts(ms)
      .find((p) => p.type === 'timeZoneName')?.value ?? '';
  if (/^[A-Z]{3,5}$/.test(name) && name !== 'GMT') return name;
  if (zone === 'Europe/London' || zone === 'Europe/Dublin')
    return offset === 0 ? 'GMT' : zone.endsWith('London') ? 'BST' : 'IST';
  if (zone.startsWith('Europe/')) {
    const winter = zoneOffset(zone, Date.UTC(new Date(ms).getUTCFullYear(), 0, 1));
    return EUROPE[offset]?.[winter === offset ? 0 : 1] ?? offsetText(offset, '', true);
  }
  const known: Readonly<Record<string, string>> = {
    'Asia/Tokyo': 'JST',
    'Asia/Kolkata': 'IST',
    'Asia/Shanghai': 'CST',
  };
  return known[zone] ?? (name === 'GMT' ? 'GMT' : offsetText(offset, '', offset % 3600 === 0));
}
