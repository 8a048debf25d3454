interface Props {
  topic: string;
  onPick: (topic: string) => void;
}

export const TopicPicker = ({ topic, onPick }: Props) => (
  <label>
    Topic:
    <select aria-label="Topic" defaultValue={topic} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
      <option>science</option>
      <option>sports</option>
      <option>arts</option>
      <option>travel</option>
      <option>weather</option>
    </select>
  </label>
);
