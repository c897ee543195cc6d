/** The shortest text that reads back as this number, as Go's `%g` writes it. */
export function goFloat(value: number, bits: 32 | 64 = 64): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const [digits = '', power = ''] = (bits === 64 ? value.toExponential() : shortSingle(value)).split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return Number(`${digits}e${power}`).toString()
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function shortSingle(value: number): string {
  const single = Math.fround(value)
  for (let digits = 0; digits < 8; digits++) {
    const text = single.toExponential(digits)
    if (Math.fround(Number(text)) === single) return text
  }
  return single.toExponential(8)
}
