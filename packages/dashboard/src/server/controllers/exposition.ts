/** One series of the Prometheus text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n' }

/** The series of the Prometheus text format whose names `isWanted` accepts. */
export function samplesOf(text: string, isWanted: (name: string) => boolean): readonly Sample[] {
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? []
    if (name === undefined || !isWanted(name)) continue
    samples.push({ name, labels: labelsOf(labels), value: value === '+Inf' ? Infinity : Number(value) })
  }
  return samples
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [, name = '', value = ''] of text.matchAll(LABEL)) {
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped)
  }
  return labels
}
