let canonicalNames: ReadonlyMap<string, string> | undefined

/** Built on first use because `supportedValuesOf` is slow. */
const canonicalZones = (): ReadonlyMap<string, string> =>
  (canonicalNames ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name])))

/** Returns whether this machine knows the time zone. Names are case-sensitive, as in Go. */
export function isTimeZone(name: string): boolean {
  const canonical = canonicalZones().get(name.toLowerCase())
  if (canonical !== undefined) return canonical === name
  // Intl does not list aliases and accepts them in any case, so only their form is checked.
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}
