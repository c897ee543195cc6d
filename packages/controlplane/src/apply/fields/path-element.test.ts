import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  compareElements,
  compareText,
  fieldElement,
  keyElement,
  parsedElement,
  sortedElements,
} from './path-element.ts'
import { sortedTexts, valueElement } from './path-element.ts'

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '0', ' ', '!', '"', '\\', '<', '.', 'é', '\uFFFD', '😀'),
})
const value = fc.oneof({ weight: 5, arbitrary: text }, fc.integer({ min: -3, max: 12 }), fc.boolean())
const element = fc.oneof(
  text.map(fieldElement),
  value.map(valueElement),
  value.map((each) => keyElement([['name', each]])),
  fc.tuple(value, value).map(([a, b]) =>
    keyElement([
      ['a', a],
      ['b', b],
    ]),
  ),
)
/** Mostly of one form, as the children of a node are. */
const elements = fc.oneof(
  fc.array(text.map(fieldElement)),
  fc.array(text.map(valueElement)),
  fc.array(text.map((each) => keyElement([['name', each]]))),
  fc.array(element),
)

test('elements sort as their parts compare', () => {
  fc.assert(
    fc.property(elements, (list) => {
      const byParts = list.map(parsedElement).toSorted(compareElements)
      expect(sortedElements(list).map(parsedElement)).toEqual(byParts)
    }),
  )
})

test('texts sort by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.array(text), (list) => {
      expect(sortedTexts(list)).toEqual(list.toSorted(compareText))
    }),
  )
})
