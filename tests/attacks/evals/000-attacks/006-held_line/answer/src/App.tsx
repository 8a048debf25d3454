export default function App() {
  return <p>harmless</p>;
}
