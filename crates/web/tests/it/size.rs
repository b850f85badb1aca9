//! How large a page is.

use testkit::corpus::Shape;

use crate::support::Page;

#[test]
fn a_page_is_hardly_larger_than_its_session() {
    let shapes = [
        Shape::realistic(20),
        Shape::realistic(60),
        Shape::realistic(2_000),
        Shape::chain(3_000),
        Shape::star(3_000),
        Shape::mostly_images(300),
        Shape::mostly_custom(2_000),
        Shape::one_giant_line(3_000_000),
    ];
    for shape in shapes {
        let page = Page::shaped(&shape);
        let (session, size) = page.sizes;
        let limit = session + session * 3 / 10 + 200_000;
        assert!(size <= limit, "{:?}, {} entries: {session} became {size}", shape.profile, shape.entries);
    }
}
