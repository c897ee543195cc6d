/** The patterns of `.Files.Glob`: `*` stays inside of a folder, `**` does not. */
import { RE2JS } from 're2js'

export interface Glob {
  readonly test: (path: string) => boolean
}

const ANY: Glob = { test: () => true }

export function globPattern(pattern: string): Glob {
  let source = ''
  let depth = 0
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? ''
    if (pattern.startsWith('**', at)) {
      source += '.*'
      at++
    } else if (character === '*') source += '[^/]*'
    else if (character === '?') source += '[^/]'
    else if (character === '\\') source += RE2JS.quote(pattern[++at] ?? '')
    else if (character === '{') {
      depth++
      source += '(?:'
    } else if (character === '}' && depth > 0) {
      depth--
      source += ')'
    } else if (character === ',' && depth > 0) source += '|'
    else if (character === '[') {
      const end = pattern.indexOf(']', at + 1)
      if (end < 0) return ANY
      source += `[${pattern
        .slice(at + 1, end)
        .replace(/^!/, '^')
        .replaceAll(/[\\[]/g, String.raw`\$&`)}]`
      at = end
    } else source += RE2JS.quote(character)
  }
  if (depth > 0) return ANY
  try {
    const regexp = RE2JS.compile(`(?s)${source}`)
    return { test: (path) => regexp.matcher(path).matches() }
  } catch {
    // Helm takes all files for a bad pattern.
    return ANY
  }
}
