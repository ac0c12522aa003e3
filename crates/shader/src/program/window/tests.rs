use super::*;

#[test]
fn windows_begin_at_the_alignment_below_their_words() {
    let mut profile = Profile::webgpu();
    profile.max_binding = 1024;
    // The tensor has 1000 words from byte 20 on. Each window has 192 words and binds one more word, for
    // elements that continue after the window.
    let windows = Window::all(20, 1000, 1, &profile).unwrap();
    assert_eq!(windows.len(), 8);
    let mut next = 0;
    for window in &windows {
        assert_eq!(window.words.start, next);
        next = window.words.end;
        assert_eq!(window.bytes.start % 256, 0);
        assert_eq!(window.bytes.start + 4 * window.base, 20 + 4 * window.words.start);
        assert!(window.bytes.end - window.bytes.start <= 1024);
        assert_eq!(window.bytes.end, 20 + 4 * (next + 1).min(1000));
    }
    assert_eq!(next, 1000);
    // A tensor that fits in one binding is one window. A binding that is too small for any word is an error.
    assert_eq!(Window::all(512, 256, 1, &profile).unwrap().len(), 1);
    profile.max_binding = 256;
    assert_eq!(Window::all(0, 1000, 1, &profile).unwrap_err().code(), "out_of_limits");
}
