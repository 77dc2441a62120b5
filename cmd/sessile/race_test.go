//go:build race

package main

// raceDetector tells the tests that count their work that everything takes many times as long.
const raceDetector = true
