/** Milliseconds since 1970 as a metav1.MicroTime, always with six fractional digits. */
export function microTime(milliseconds: number, microseconds = 0): string {
  return new Date(milliseconds).toISOString().replace('Z', `${String(microseconds).padStart(3, '0')}Z`)
}
