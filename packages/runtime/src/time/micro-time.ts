/** Milliseconds since 1970 as a metav1.MicroTime: six digits after the second, always. */
export function microTime(milliseconds: number, microseconds = 0): string {
  return new Date(milliseconds).toISOString().replace('Z', `${String(microseconds).padStart(3, '0')}Z`)
}
