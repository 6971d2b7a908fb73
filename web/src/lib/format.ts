// Figures as people read them. Every function takes the unit that its name or parameter says.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

/** 950, 12.3k, 102k, 1.2M: for places where digits do not fit. */
export function short(value: number): string {
  if (value < 1000) return whole.format(value);
  const [unit, by] = value < 999_500 ? ['k', 1000] : ['M', 1_000_000];
  const scaled = value / by;
  return `${scaled < 10 ? trim(scaled.toFixed(1)) : scaled.toFixed(0)}${unit}`;
}

/** Powers of 1024, as the options of the server count. */
export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let scaled = value;
  let unit = 0;
  while (scaled >= 1023.5 && unit < units.length - 1) {
    scaled /= 1024;
    ++unit;
  }
  const digits = unit === 0 || scaled >= 99.95 ? 0 : 1;
  return `${trim(scaled.toFixed(digits))} ${units[unit]}`;
}

export function duration(ms: number): string {
  if (ms < 0.95) return ms <= 0 ? '0 ms' : '< 1 ms';
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const all = Math.round(seconds);
  if (all < 3600) return parts(all, 60, 'min', 's');
  const minutes = Math.floor(all / 60);
  if (all < 86_400) return parts(minutes, 60, 'h', 'min');
  return parts(Math.floor(minutes / 60), 24, 'd', 'h');
}

/** Tokens per second, of one phase only; null where there is no rate. */
export function rate(perSecond: number | null): string {
  return perSecond === null ? '–' : `${bareRate(perSecond)} tok/s`;
}

/** The same where the unit stands elsewhere. */
export function bareRate(perSecond: number | null): string {
  if (perSecond === null) return '–';
  return perSecond < 99.95 ? perSecond.toFixed(1) : whole.format(perSecond);
}

export function percent(share: number): string {
  const hundred = share * 100;
  if (hundred > 99 && hundred < 100) return `${(Math.floor(hundred * 10) / 10).toFixed(1)} %`;
  return `${hundred > 0 && hundred < 1 ? '< 1' : hundred.toFixed(0)} %`;
}

export function ago(seconds: number, nowSeconds: number): string {
  const age = Math.max(0, nowSeconds - seconds);
  if (age < 5) return 'now';
  if (age < 60) return `${Math.floor(age)} s ago`;
  if (age < 3600) return `${Math.floor(age / 60)} min ago`;
  if (age < 86_400) return `${Math.floor(age / 3600)} h ago`;
  return `${Math.floor(age / 86_400)} d ago`;
}

export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString();
}

function parts(value: number, by: number, big: string, small: string): string {
  const rest = value % by;
  return `${Math.floor(value / by)} ${big}${rest ? ` ${rest} ${small}` : ''}`;
}

function trim(text: string): string {
  return text.replace(/\.0$/, '');
}
