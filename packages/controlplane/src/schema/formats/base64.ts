/** Returns Go's error for invalid base64 (standard alphabet, padded; line breaks are skipped), or undefined. */
export function base64Error(text: string): string | undefined {
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return undefined
  const at = corruptAt(text)
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}

function corruptAt(text: string): number | undefined {
  const bytes = Buffer.from(text)
  let index = 0
  const skip = (): void => {
    while (bytes[index] === 10 || bytes[index] === 13) index += 1
  }
  for (;;) {
    let taken = 0
    for (; taken < 4; taken += 1) {
      skip()
      const byte = bytes[index]
      if (byte === undefined) return taken === 0 ? undefined : index - taken
      index += 1
      if (/[A-Za-z0-9+/]/.test(String.fromCharCode(byte))) continue
      if (byte !== 61 || taken < 2) return index - 1
      if (taken === 2) {
        skip()
        if (bytes[index] === undefined) return bytes.length
        if (bytes[index] !== 61) return index
        index += 1
      }
      skip()
      return index < bytes.length ? index : undefined
    }
  }
}
